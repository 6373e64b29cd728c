/**
 * Loosening belongs to people: an agent may tighten limits, and only a person weakens or removes one. The store checks each
 * commit of a call, so that every tool, undo and batch is covered. Source: docs/security.md#two-rules;
 * docs/decisions/0049-loosening-revoking-leaving.md.
 */
import type { AnyChange, ChangeOf } from './commit.ts';
import { MusterError } from './errors.ts';
import type { Actor } from './trail.ts';

/** What loosening concerns. */
export const LOOSENED = [
  'approvals',
  'budget',
  'member',
  'access',
  'repositories',
  'routing',
  'agent',
] as const;

export type Loosened = (typeof LOOSENED)[number];

/** A limit that a change weakens or removes. Source: docs/security.md#two-rules. */
export interface Loosening {
  readonly what: Loosened;
  /** What becomes possible, from what to what, as the end of "This would …". An approval covers exactly this text. */
  readonly would: string;
  /** The workspace that it concerns; that of the call if absent. */
  readonly workspace?: string | undefined;
  /** The uid of the person who approves it; the owner of the calling agent if absent. */
  readonly approver?: string | undefined;
  /** No agent can do it, also not with an approval. */
  readonly inPerson?: true;
}

/** How each kind of change loosens a limit, or null if it never does. `by` is the agent that makes the call. */
export type LooseningOf<Changes> = {
  readonly [Kind in keyof Changes]:
    | ((change: Changes[Kind], by: Actor, all: readonly AnyChange[]) => readonly Loosening[])
    | null;
};

/** An agent's commit would loosen a limit, which belongs to people. Nothing was written. */
export class LooseningError extends MusterError {
  readonly loosening: Loosening;
  /** All limits that the commit would loosen, each as the end of "This would …". */
  readonly would: readonly string[];

  /** `all`: those that are not approved; `would`: all that the commit loosens, also what is approved. */
  constructor(all: readonly [Loosening, ...Loosening[]], would: readonly string[]) {
    super(
      'FORBIDDEN',
      `This would ${inWords(all.map((one) => one.would))}, which only a person can decide.`,
      {
        reason: LOOSENS_A_LIMIT,
        suggestion: 'Ask your owner to do this in the console, or to call the tool as a person.',
      },
    );
    this.name = 'LooseningError';
    this.loosening = all.find(({ inPerson }) => inPerson) ?? all[0];
    this.would = would;
  }
}

/** The reason of a refusal, as callers see it. */
export const LOOSENS_A_LIMIT = 'LOOSENS_A_LIMIT';

/** Loosenings as the end of "This would …". */
export function inWords(would: readonly string[]): string {
  return would.join(', and ');
}

/** Kinds of changes that never loosen a limit. */
export function neverLoosens<const Kind extends string>(...kinds: readonly Kind[]) {
  return Object.fromEntries(kinds.map((kind) => [kind, null])) as Record<Kind, null>;
}

/**
 * Refuses an agent's commit that loosens a limit, unless the person who decides about that limit has approved the call.
 * Commits of people, operators and triggers pass.
 * @throws LooseningError; MusterError FORBIDDEN if different persons decide about parts of it
 */
export function requireNoLoosening<Kinds>(
  table: LooseningOf<Kinds>,
  changes: readonly ChangeOf<Kinds>[],
  by: Actor | undefined,
): void {
  if (by?.agent_id === undefined) return;
  const all = looseningsIn(table, changes, by);
  const [first, ...others] = all.filter((one) => !isApproved(one, by));
  if (first === undefined) return;
  if (all.some((one) => approverOf(one, by) !== approverOf(first, by))) throw severalApprovers();
  throw new LooseningError(
    [first, ...others],
    all.map(({ would }) => would),
  );
}

/** What is stored may have changed since the person was asked: then the call may loosen more than they were shown. */
function isApproved(one: Loosening, by: Actor): boolean {
  const isShown = by.shown === undefined || by.shown.includes(one.would);
  return !one.inPerson && approverOf(one, by) === by.approved_by && isShown;
}

/** All that changes of one commit loosen. */
export function looseningsIn<Kinds>(
  table: LooseningOf<Kinds>,
  changes: readonly ChangeOf<Kinds>[],
  by: Actor,
): readonly Loosening[] {
  return changes.flatMap((change) => looseningsOf(table, change, by, changes));
}

function looseningsOf<Kinds, Kind extends keyof Kinds>(
  table: LooseningOf<Kinds>,
  change: ChangeOf<Pick<Kinds, Kind>>,
  by: Actor,
  all: readonly AnyChange[],
): readonly Loosening[] {
  return table[change.kind]?.(change, by, all) ?? [];
}

/** The uid of the person who approves a loosening. */
export function approverOf({ approver }: Loosening, { owner_uid }: Pick<Actor, 'owner_uid'>): string {
  return approver ?? owner_uid;
}

function severalApprovers(): MusterError {
  return new MusterError('FORBIDDEN', 'Parts of this call need approval from different people.', {
    reason: 'SEVERAL_APPROVERS',
    suggestion: 'Make a separate call for each limit that you want to change.',
  });
}
