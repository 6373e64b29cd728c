/** What a credential opens no more than: toolsets, one workspace, reading. Source: docs/decisions/0006-roles-and-registration.md. */
import { MusterError } from '../../kernel/errors.ts';
import type { Credential } from './credential.ts';
import type { Principal } from './principal.ts';

/** Every toolset that there is, in the order in which they are listed. */
export const TOOLSETS = [
  'onboarding',
  'access',
  'system',
  'firebase',
  'github',
  'coordination',
  'todo',
  'orchestration',
  'coding',
  'inbox',
] as const;

/** What a credential opens no more than. */
export type Limits = Pick<Credential, 'toolsets' | 'held_to' | 'readonly'>;

/** Returns what two credentials both open; undefined if they are held to different workspaces and so open nothing. */
export function commonLimits(one: Limits, other: Limits): Limits | undefined {
  const heldTo = one.held_to ?? other.held_to;
  if (other.held_to !== undefined && other.held_to !== heldTo) return undefined;
  const toolsets =
    one.toolsets && other.toolsets
      ? one.toolsets.filter((toolset) => other.toolsets?.includes(toolset))
      : (one.toolsets ?? other.toolsets);
  return {
    ...(toolsets && { toolsets }),
    ...(heldTo !== undefined && { held_to: heldTo }),
    ...((one.readonly || other.readonly) && { readonly: true }),
  };
}

/** The limits that are asked for. `null` lifts one, and is a person's to say. */
export interface WantedLimits {
  readonly toolsets?: readonly string[] | null | undefined;
  readonly held_to?: string | null | undefined;
  readonly readonly?: boolean | undefined;
}

/** Whether the caller may lift what a credential before was narrowed to: only people may. */
export function mayWiden({ kind }: Principal): boolean {
  return kind === 'person';
}

/**
 * The limits of the new credential: those of the caller's own, those that are asked for, and those of the credentials
 * that it replaces, which nobody but a person lifts, by saying so.
 * @throws MusterError VALIDATION_ERROR for a toolset that there is not; FORBIDDEN for a workspace that a credential
 *   before, or the caller's own, is not held to
 */
export function grantedLimits(
  principal: Principal,
  old: readonly Limits[],
  wanted: WantedLimits = {},
): Limits {
  requireKnown(wanted.toolsets ?? []);
  const isTheirs = mayWiden(principal);
  const kept = (field: keyof WantedLimits) =>
    isTheirs && wanted[field] !== undefined ? [principal] : [principal, ...old];
  const lists = [...kept('toolsets'), { toolsets: wanted.toolsets ?? undefined }].flatMap(({ toolsets }) =>
    toolsets ? [toolsets] : [],
  );
  const [first, ...others] = lists;
  const held = [...kept('held_to'), { held_to: wanted.held_to ?? undefined }].flatMap(
    ({ held_to }) => held_to ?? [],
  );
  const [heldTo] = held;
  if (held.some((workspace) => workspace !== heldTo)) {
    throw new MusterError('FORBIDDEN', `The credential is held to the workspace "${heldTo}".`, {
      field: 'heldTo',
      suggestion: 'Leave it out to keep that, or let the owner of the agent in person choose another.',
    });
  }
  const isReadonly = wanted.readonly === true || kept('readonly').some((one) => one.readonly);
  return {
    ...(first && { toolsets: first.filter((toolset) => others.every((list) => list.includes(toolset))) }),
    ...(heldTo !== undefined && { held_to: heldTo }),
    ...(isReadonly && { readonly: true }),
  };
}

function requireKnown(toolsets: readonly string[]): void {
  const known: readonly string[] = TOOLSETS;
  const unknown = toolsets.filter((toolset) => !known.includes(toolset));
  if (unknown.length === 0) return;
  throw new MusterError('VALIDATION_ERROR', `There is no toolset "${unknown[0]}".`, {
    field: 'toolsets',
    value: unknown[0],
    suggestion: `The toolsets are ${TOOLSETS.join(', ')}.`,
  });
}
