import type { Store } from '../kernel/commit.ts';
import type { DocumentSource } from '../kernel/firestore/reading.ts';
import type { KernelPorts } from '../kernel/ports.ts';
import type { realtimeDatabase } from '../kernel/realtime/database.ts';
import type { AgentChange } from './rules/agent.ts';
import { AgentLiveness } from './rules/liveness.ts';
import type { AgentPorts } from './rules/ports.ts';
import { AgentRegistration } from './rules/registration.ts';
import { FirestoreAgentDirectory, FirestoreAgentQueries } from './store/agents.ts';
import { DatabasePresence } from './store/presence.ts';

export interface AgentDependencies extends DocumentSource {
  readonly kernel: KernelPorts;
  readonly store: Store<AgentChange>;
  readonly realtime: typeof realtimeDatabase;
  readonly identity: Pick<AgentPorts, 'roles'>;
}

/** Creates the services for agents, their presence and their liveness. */
export function createAgents({ database, documents, kernel, store, realtime, identity }: AgentDependencies) {
  const ports: AgentPorts = {
    ...kernel,
    store,
    agents: new FirestoreAgentQueries(database, documents),
    directory: new FirestoreAgentDirectory(database, documents),
    presence: new DatabasePresence({ database: realtime, clock: kernel.clock }),
    roles: identity.roles,
  };
  const services = { liveness: new AgentLiveness(ports), registration: new AgentRegistration(ports) };
  return { ports, services };
}
