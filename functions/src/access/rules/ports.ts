/** What is used to know who is calling. */
import type { KernelPorts, Presence } from '../../kernel/ports.ts';
import type { AgentDirectoryReader } from '../store/agentDirectory.ts';
import type { AgentReader } from '../store/agents.ts';
import type { CallMetrics } from './callMetrics.ts';
import type { Principal } from './principal.ts';
import type { CallLimits } from './rateLimiter.ts';

export interface IdTokenVerifier {
  /** @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED */
  verify(idToken: string): Promise<Principal>;
}

export interface AccessPorts extends KernelPorts {
  readonly agents: AgentReader;
  readonly directory: AgentDirectoryReader;
  readonly presence: Presence;
  readonly idTokens: IdTokenVerifier;
  readonly limits: CallLimits;
  readonly metrics: CallMetrics;
}
