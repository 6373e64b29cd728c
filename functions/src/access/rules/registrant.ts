/**
 * Who may register an agent again, and what its new credential may open: never more than the old one, unless a person
 * or an admin says so. Source: docs/decisions/0006-who-may-register.md.
 */
import { MusterError } from '../../kernel/errors.ts';
import type { Hashing } from '../../kernel/ports.ts';
import type { Agent } from './agent.ts';
import { type Credential, hasRole, type Principal, type Role } from './principal.ts';

/**
 * Lets an agent be registered again by itself, by its owner in person, or by a leader of the same owner that is not
 * weaker than it.
 * @throws MusterError FORBIDDEN
 */
export function authoriseReplacing(principal: Principal, agent: Agent): void {
  if (agent.ownerUid === principal.ownerUid) {
    if (principal.agentId === agent.id || principal.kind === 'person') return;
    if (hasRole(principal.role, 'leader') && hasRole(principal.role, agent.role)) return;
  }
  throw new MusterError(
    'FORBIDDEN',
    'An agent of this name is registered already, and you may not replace it.',
    {
      field: 'agentInfo.name',
      suggestion:
        'Choose another name, or let that agent, its owner or a leader whose role is not below its own register it again.',
    },
  );
}

/** @throws MusterError FORBIDDEN for more than the caller has, or than the agent had */
export function grantedRole(
  principal: Principal,
  wanted: Role | undefined,
  existing: Agent | undefined,
): Role {
  const role = wanted ?? existing?.role ?? 'worker';
  if (!hasRole(principal.role, role)) {
    throw forbiddenRole(
      role,
      `You may not register an agent with the role ${role}: yours is ${principal.role}.`,
      `Ask for ${principal.role} or less, or let somebody with that role register it.`,
    );
  }
  if (existing !== undefined && !hasRole(existing.role, role) && !mayWiden(principal)) {
    throw forbiddenRole(
      role,
      `You may not raise the agent to ${role}: its role is ${existing.role}.`,
      `Leave role out to keep ${existing.role}, or let the agent's owner in person or an admin raise it.`,
    );
  }
  return role;
}

/** The only toolsets of the new credential; all where undefined. */
export function grantedToolsets(
  principal: Principal,
  old: readonly Credential[],
): readonly string[] | undefined {
  const before = mayWiden(principal) ? [] : old.map(({ toolsets }) => toolsets);
  const limits = [principal.toolsets, ...before].flatMap((toolsets) => (toolsets ? [toolsets] : []));
  const [first, ...others] = limits;
  return first?.filter((toolset) => others.every((toolsets) => toolsets.includes(toolset)));
}

function mayWiden(principal: Principal): boolean {
  return principal.kind === 'person' || hasRole(principal.role, 'admin');
}

function forbiddenRole(role: Role, message: string, suggestion: string): MusterError {
  return new MusterError('FORBIDDEN', message, { field: 'role', value: role, suggestion });
}

// The ids that onboarding.registerAgent makes: of an owner and a name, so that registering again finds the
// agent.

const USUAL_DIGITS = 8;

/** So many that nobody finds another name with the same digest. Nobody may choose an id that ends so. */
const SAFE_DIGITS = 16;

const ENDS_SAFELY = new RegExp(`-[0-9a-f]{${SAFE_DIGITS}}$`);

export function usualId(ownerUid: string, name: string, hashing: Hashing): string {
  return idOf(ownerUid, name, hashing, USUAL_DIGITS);
}

/** The id where another owner has the usual one. */
export function safeId(ownerUid: string, name: string, hashing: Hashing): string {
  return idOf(ownerUid, name, hashing, SAFE_DIGITS);
}

/** Whether only registerAgent makes agents of such an id. */
export function isReserved(agentId: string): boolean {
  return ENDS_SAFELY.test(agentId);
}

function idOf(ownerUid: string, name: string, hashing: Hashing, digits: number): string {
  const start = name.replace(/^[^A-Za-z0-9]+/, '') || 'agent';
  return `${start}-${hashing.sha256(`${ownerUid}\n${name}`).slice(0, digits)}`;
}
