/**
 * Rule that only people loosen limits: an agent may make a limit stricter, but only a person weakens or removes one.
 * The store checks every commit of a call, so the rule covers all tools, undo and batches. Source:
 * docs/security.md#two-rules; docs/decisions/0049-loosening-revoking-leaving.md.
 */
import type { Actor } from './auditLog.ts';
import type { AnyChange, ChangeOf } from './commit.ts';
import { MusterError } from './errors.ts';

export const LOOSENING_KINDS = [
  'approvals',
  'budget',
  'member',
  'access',
  'repositories',
  'routing',
  'agent',
  'proof',
] as const;
export type Loosened = (typeof LOOSENING_KINDS)[number];

/** Weakening or removal of one limit by a change. Source: docs/security.md#two-rules. */
export interface Loosening {
  readonly what: Loosened;
  /** The change from the old to the new limit, as the end of "This would …". An approval covers exactly this text. */
  readonly would: string;
  /** Workspace of the limit; the call's workspace if absent. */
  readonly workspace?: string | undefined;
  /** Uid of the person who approves the change; the owner of the calling agent if absent. */
  readonly approver?: string | undefined;
  /** Set if agents cannot make the change even with an approval. */
  readonly inPerson?: true;
}

/** Functions that return the limits that a change loosens, by kind of change; null for kinds that loosen none. */
export type LooseningOf<Changes> = {
  readonly [Kind in keyof Changes]:
    | ((change: Changes[Kind], by: Actor, all: readonly AnyChange[]) => readonly Loosening[])
    | null;
};

/** Refusal of an agent's commit that would loosen a limit. The refused commit wrote nothing. */
export class LooseningError extends MusterError {
  readonly loosening: Loosening;
  /** Descriptions of all limits that the commit would loosen, each as the end of a sentence with "This would". */
  readonly would: readonly string[];

  /** `all`: loosenings without an approval. `would`: descriptions of all loosenings, including approved ones. */
  constructor(all: readonly [Loosening, ...Loosening[]], would: readonly string[]) {
    super('FORBIDDEN', `This would ${describeLoosening(all.map((one) => one.would))}, which only people may decide.`, {
      reason: LOOSENS_A_LIMIT,
      suggestion: 'Ask your owner to do this in the console, or to call the tool as a person.',
    });
    this.name = 'LooseningError';
    this.loosening = all.find(({ inPerson }) => inPerson) ?? all[0];
    this.would = would;
  }
}

export const LOOSENS_A_LIMIT = 'LOOSENS_A_LIMIT';

/** Joins descriptions of loosenings to one text that ends a sentence with "This would". */
export function describeLoosening(effect: readonly string[]): string {
  return effect.join(', and ');
}

/** Returns entries of the loosening table for kinds of changes that never loosen a limit. */
export function noLoosening<const Kind extends string>(...kinds: readonly Kind[]) {
  return Object.fromEntries(kinds.map((kind) => [kind, null])) as Record<Kind, null>;
}

/**
 * Refuses an agent's commit that loosens a limit, unless the responsible person has approved it. Commits of people,
 * operators and triggers are allowed.
 * @throws LooseningError; MusterError FORBIDDEN if the commit needs approvals of different people
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
  if (all.some((one) => approverOf(one, by) !== approverOf(first, by)))
    throw new MusterError('FORBIDDEN', 'Parts of this call need approval from different people.', {
      reason: 'SEVERAL_APPROVERS',
      suggestion: 'Make a separate call for each limit that you want to change.',
    });
  throw new LooseningError(
    [first, ...others],
    all.map(({ would }) => would),
  );
}

/** The call may loosen more than the person saw, because stored data may have changed after the approval request. */
function isApproved(one: Loosening, by: Actor): boolean {
  const isShown = by.shown === undefined || by.shown.includes(one.would);
  return !one.inPerson && approverOf(one, by) === by.approved_by && isShown;
}

/** Returns all loosenings by the changes of a commit. */
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

/** Returns the uid of the person who can approve a loosening. */
export function approverOf({ approver }: Loosening, { owner_uid }: Pick<Actor, 'owner_uid'>): string {
  return approver ?? owner_uid;
}
