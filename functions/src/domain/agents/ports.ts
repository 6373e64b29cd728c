/** What is used to know who is calling. */
import type { CallLimits } from '../limits/limiter.ts';
import type { CallMetrics } from '../metrics/metrics.ts';
import type { KernelPorts, Presence } from '../ports.ts';
import type { AgentReader, SessionReader } from '../readers.ts';
import type { AgentDirectoryReader } from '../system/readers.ts';
import type { CredentialReader, IdTokenVerifier } from './authentication.ts';

export interface AccessPorts extends KernelPorts {
  readonly agents: AgentReader & CredentialReader;
  readonly directory: AgentDirectoryReader;
  readonly sessions: SessionReader;
  readonly presence: Presence;
  readonly idTokens: IdTokenVerifier;
  readonly limits: CallLimits;
  readonly metrics: CallMetrics;
}
