/**
 * The caller: principals and roles.
 * Source: docs/semantics.md#who-may-do-what.
 */
import type { KernelPorts, PortOf } from '../../kernel/ports.ts';
import type { AgentDirectory } from '../store/agentDirectory.ts';
import type { AgentReader, credentialFromDocument } from '../store/agents.ts';
import type { FirebaseIdTokenVerifier } from '../store/idTokens.ts';
import type { DatabasePresence } from '../store/ledgers.ts';
import type { CallRecorder } from './callMetrics.ts';
import type { RateLimiter } from './rateLimiter.ts';

/** The roles, weakest first. A role may do what every weaker one may. */
export const ROLES = ['viewer', 'worker', 'leader', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/**
 * An authenticated caller.
 *
 * `uid` is the Firebase Auth uid that security rules see: a person's own, or `agent:<agentId>`.
 * `ownerUid` is the person whose to-dos the caller acts on: an agent's owner, or the person.
 * `toolsets`, where present, are the only toolsets that the caller may use.
 * `workspace` is the agent's own, which the URL may override.
 */
export interface Principal {
  readonly uid: string;
  readonly kind: 'agent' | 'person';
  readonly agentId?: string;
  readonly ownerUid: string;
  readonly role: Role;
  readonly toolsets?: readonly string[];
  readonly workspace?: string;
}

/** Whether `role` is `least` or stronger. */
export function hasRole(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

export type Credential = ReturnType<typeof credentialFromDocument>;

/** How long a credential lasts. */
export const CREDENTIAL_DAYS = 90;

/** An agent's Firebase Auth uid, as security rules see it. */
export function agentUid(agentId: string): string {
  return `agent:${agentId}`;
}

/** On whose behalf a database is read, written or watched: the security rules decide about this one. */
export interface Caller {
  readonly principal: Principal;
  /** The bearer credential of the call: a person's ID token, or an agent's own credential. */
  readonly credential: string;
}

/** A workspace's name. */
export const WORKSPACE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The workspace of callers who name none. */
export const DEFAULT_WORKSPACE = 'default';

export interface AccessPorts extends KernelPorts {
  readonly agents: AgentReader;
  readonly directory: PortOf<AgentDirectory>;
  readonly presence: PortOf<DatabasePresence>;
  readonly idTokens: PortOf<FirebaseIdTokenVerifier>;
  readonly limits: PortOf<RateLimiter>;
  readonly metrics: Pick<CallRecorder, 'record'>;
}
