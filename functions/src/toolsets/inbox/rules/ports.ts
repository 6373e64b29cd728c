/** What the rules of questions read and write through. */
import type { AgentLiveness } from '../../../access/rules/liveness.ts';
import type { PortOf } from '../../../kernel/ports.ts';
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { RequestQueries } from '../store/requests.ts';

export interface InboxPorts extends CoordinationPorts {
  readonly requests: PortOf<RequestQueries>;
  readonly liveness: Pick<AgentLiveness, 'actable'>;
  /** Which agents a person lets answer for them. */
  readonly agentsMayAnswer: (uid: string) => Promise<readonly string[]>;
}
