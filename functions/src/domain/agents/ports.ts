/** What is used to know who is calling. */

import type { CallLimits } from '../limits/limiter.ts';
import type { CallMetrics } from '../metrics/metrics.ts';
import type { KernelPorts, Presence } from '../ports.ts';
import type { Principal } from '../principal.ts';
import type { AgentReader, SessionReader } from '../readers.ts';
import type { AgentDirectoryReader } from '../system/readers.ts';
import type { Agent } from './agent.ts';
import type { Credential } from './credential.ts';

export interface CredentialReader {
  /** The credential and the agent that it belongs to, in at most two reads. */
  findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined>;
}

export interface IdTokenVerifier {
  /** @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED */
  verify(idToken: string): Promise<Principal>;
}

export interface AccessPorts extends KernelPorts {
  readonly agents: AgentReader & CredentialReader;
  readonly directory: AgentDirectoryReader;
  readonly sessions: SessionReader;
  readonly presence: Presence;
  readonly idTokens: IdTokenVerifier;
  readonly limits: CallLimits;
  readonly metrics: CallMetrics;
}
