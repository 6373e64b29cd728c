/**
 * Effective limits of a credential: its own, and those of the credentials and sign-ins through which it was
 * registered. Source: docs/semantics.md#permissions; docs/decisions/0006-roles-and-registration.md.
 */
import type { ChangeOf, Versioned } from '../../kernel/commit.ts';
import { MusterError, unknownName } from '../../kernel/errors.ts';
import {
  type Credential,
  type CredentialChanges,
  type Limits,
  type Link,
  type LinkSubject,
  limitsOf,
  lineOf,
} from './credential.ts';
import type { CredentialQueries, GrantQueries } from './ports.ts';
import { type Principal, TOOLSETS } from './principal.ts';
import { type Role, weakerOf } from './role.ts';

export interface GrantedAccess extends Limits {
  readonly role: Role;
  readonly endsAt: Date;
}

export interface ValidLink extends Link {
  readonly opens: GrantedAccess;
}

/** Access of a credential within the limits of its chain, whose credentials are all valid. */
export interface ResolvedLineage {
  readonly opens: GrantedAccess;
  readonly ancestors: readonly ValidLink[];
}

/** Maximum length of a credential chain. Each credential of the chain costs two reads per lookup. */
export const MAX_ANCESTORS = 10;

/** Returns the link to a credential. The credentials that are registered through it store the link. */
export function keyLink(credential: Pick<Credential, 'line' | 'api_key' | 'agent_id'>): Link {
  return { subject: `key:${lineOf(credential)}`, agent_id: credential.agent_id };
}

/** Returns the link to a sign-in. The credentials that are registered through it store the link. */
export function grantLink({ id, agent_id }: { readonly id: string; readonly agent_id: string }): Link {
  return { subject: `grant:${id}`, agent_id };
}

/** Returns the change that revokes a credential. */
export function withdrawalOf({ api_key, line }: Pick<Credential, 'line' | 'api_key'>): ChangeOf<CredentialChanges> {
  return { kind: 'withdrawCredential', apiKey: api_key, line };
}

/** Returns the links to the credentials through which a credential was registered, outermost first. */
export function ancestorsOf({ ancestors }: Pick<Credential, 'ancestors'>): readonly LinkSubject[] {
  return ancestors.map(({ subject }) => subject);
}

/** Returns the access that two credentials share, until the earlier expiry; undefined if they share no access. */
export function intersectLimits(one: GrantedAccess, other: GrantedAccess): GrantedAccess | undefined {
  const limits = commonLimits(one, other);
  if (limits === undefined) return undefined;
  const endsAt = one.endsAt < other.endsAt ? one.endsAt : other.endsAt;
  return { role: weakerOf(one.role, other.role), endsAt, ...limits };
}

/** Returns a credential's access within the limits of its chain; undefined if no access is left. */
export function restrictedBy(own: GrantedAccess, ancestors: readonly ValidLink[]): GrantedAccess | undefined {
  return ancestors.reduce<GrantedAccess | undefined>(
    (opening, { opens }) => opening && intersectLimits(opening, opens),
    own,
  );
}

/**
 * Returns the credential chain and the line of a new credential of an agent. If an agent renews its own credential,
 * the line stays the same. Any other registration starts a new line, because the old credential may have leaked.
 * @throws MusterError QUOTA_EXCEEDED if the chain is too long; FORBIDDEN if the caller descends from the agent
 */
export function descentOf(
  { lineage = [] }: Pick<Principal, 'lineage'>,
  old: readonly Credential[],
): Pick<Credential, 'ancestors' | 'line'> {
  const subjects = new Set(lineage.map(({ subject }) => subject));
  const own = old.find((credential) => keyLink(credential).subject === lineage.at(-1)?.subject);
  if (own !== undefined) return { line: lineOf(own), ancestors: lineage.slice(0, -1) };
  if (old.some((credential) => subjects.has(keyLink(credential).subject))) throw descendsFromItself();
  if (lineage.length > MAX_ANCESTORS) throw tooDeep();
  return { ancestors: lineage };
}

interface LineagePorts {
  readonly agents: Pick<CredentialQueries, 'ofLines'> & {
    /** Returns the agents with these ids. Ids without an agent are omitted. */
    findAll(agentIds: readonly string[]): Promise<readonly Versioned<{ readonly id: string; readonly role: Role }>[]>;
  };
  readonly grants: Pick<GrantQueries, 'findAll'>;
}

/** Returns the valid links by subject. A link is valid if its credential exists and has not expired. */
export async function validLinks(
  { agents, grants }: LineagePorts,
  subjects: readonly LinkSubject[],
  now: Date,
): Promise<ReadonlyMap<LinkSubject, ValidLink>> {
  const of = (kind: 'key' | 'grant'): readonly string[] => [
    ...new Set(subjects.flatMap((subject) => (subject.startsWith(`${kind}:`) ? subject.slice(kind.length + 1) : []))),
  ];
  const [keys, open] = await Promise.all([agents.ofLines(of('key')), grants.findAll(of('grant'))]);
  const links = [
    ...keys.map((key) => ({ ...keyLink(key), opens: key })),
    ...open.map((grant) => ({ ...grantLink(grant), opens: grant })),
  ].filter(({ opens }) => opens.expires_at > now);
  const those = await agents.findAll([...new Set(links.map(({ agent_id }) => agent_id))]);
  const roles = new Map(those.map(({ value }) => [value.id, value.role]));
  return new Map(
    links.flatMap(({ subject, agent_id, opens }) => {
      const role = roles.get(agent_id);
      return role === undefined ? [] : [[subject, { subject, agent_id, opens: accessOfGrant(opens, role) }] as const];
    }),
  );
}

/** Returns the current access of a credential; undefined if its chain has an invalid link or no access is left. */
export async function resolveLineage(
  ports: LineagePorts,
  own: GrantedAccess,
  subjects: readonly LinkSubject[],
  now: Date,
): Promise<ResolvedLineage | undefined> {
  if (subjects.length === 0) return { opens: own, ancestors: [] };
  return resolveInLinks(await validLinks(ports, subjects, now), own, subjects);
}

/** Like `resolveLineage`, but with links that the caller has read already. */
export function resolveInLinks(
  validLinks: ReadonlyMap<LinkSubject, ValidLink>,
  own: GrantedAccess,
  subjects: readonly LinkSubject[],
): ResolvedLineage | undefined {
  const ancestors = subjects.flatMap((subject) => validLinks.get(subject) ?? []);
  if (ancestors.length < subjects.length) return undefined;
  const opens = restrictedBy(own, ancestors);
  return opens && { opens, ancestors };
}

/** Returns the credential chain of a caller, which ends with the caller's own credential. */
export function lineageOf({ ancestors }: ResolvedLineage, own: Link): readonly Link[] {
  return [...ancestors.map(({ subject, agent_id }) => ({ subject, agent_id })), own];
}

/** Returns the access of a credential before the limits of its credential chain apply. */
export function accessOfGrant(grant: Limits & { readonly expires_at: Date }, role: Role): GrantedAccess {
  return { role, endsAt: grant.expires_at, ...limitsOf(grant) };
}

function tooDeep(): MusterError {
  return new MusterError(
    'QUOTA_EXCEEDED',
    `Your credential was registered through ${MAX_ANCESTORS} other credentials, the maximum.`,
    {
      field: 'agentInfo.name',
      reason: 'LINEAGE_TOO_LONG',
      suggestion: 'Ask your owner, or an agent with a shorter credential chain, to register the new agent.',
    },
  );
}

function descendsFromItself(): MusterError {
  return new MusterError('FORBIDDEN', 'You were registered through this agent, so you cannot replace it.', {
    field: 'agentInfo.name',
    reason: 'REGISTERED_THROUGH_IT',
    suggestion: 'Ask the agent, its owner or another leader to register the agent again.',
  });
}

/** Returns the limits that hold for both credentials; undefined if they are restricted to different workspaces. */
export function commonLimits(one: Limits, other: Limits): Limits | undefined {
  const heldTo = one.held_to ?? other.held_to;
  if (other.held_to !== undefined && other.held_to !== heldTo) return undefined;
  const toolsets =
    one.toolsets && other.toolsets
      ? one.toolsets.filter((toolset) => other.toolsets?.includes(toolset))
      : (one.toolsets ?? other.toolsets);
  return limitsOf({ toolsets, held_to: heldTo, readonly: one.readonly || other.readonly });
}

/** Limits that a registration requests. `null` removes a limit, which only a person can do. */
export interface WantedLimits {
  readonly toolsets?: readonly string[] | null | undefined;
  readonly held_to?: string | null | undefined;
  readonly readonly?: boolean | undefined;
}

/** Returns whether the caller can remove the limits of a replaced credential. Only people can. */
export function canWiden({ kind }: Principal): boolean {
  return kind === 'person';
}

/**
 * Returns the limits of a new credential: those of the caller, those requested, and those of the credentials that it
 * replaces. Only a person can remove limits of replaced credentials, and must request the removal.
 * @throws MusterError VALIDATION_ERROR if a toolset is unknown; FORBIDDEN if a replaced credential, or the caller's
 * own, is restricted to another workspace
 */
export function grantedLimits(principal: Principal, old: readonly Limits[], wanted: WantedLimits = {}): Limits {
  requireKnown(wanted.toolsets ?? []);
  const isTheirs = canWiden(principal);
  const kept = (field: keyof WantedLimits) =>
    isTheirs && wanted[field] !== undefined ? [principal] : [principal, ...old];
  const lists = [...kept('toolsets'), { toolsets: wanted.toolsets ?? undefined }].flatMap(({ toolsets }) =>
    toolsets ? [toolsets] : [],
  );
  const [first, ...others] = lists;
  const held = [...kept('held_to'), { held_to: wanted.held_to ?? undefined }].flatMap(({ held_to }) => held_to ?? []);
  const [heldTo] = held;
  if (held.some((workspace) => workspace !== heldTo))
    throw new MusterError('FORBIDDEN', `The credential is restricted to the workspace "${heldTo}".`, {
      field: 'heldTo',
      suggestion: "Omit heldTo to keep this restriction. Only the agent's owner, in person, can change it.",
    });
  const toolsets = first?.filter((toolset) => others.every((list) => list.includes(toolset)));
  const isReadonly = wanted.readonly === true || kept('readonly').some((one) => one.readonly);
  return limitsOf({ toolsets, held_to: heldTo, readonly: isReadonly || undefined });
}

function requireKnown(toolsets: readonly string[]): void {
  const known: readonly string[] = TOOLSETS;
  const unknown = toolsets.find((toolset) => !known.includes(toolset));
  if (unknown !== undefined) throw unknownName('toolset', unknown, known, 'toolsets');
}
