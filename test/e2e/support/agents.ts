/** Agents that a test creates. They register with onboarding as any agent does. */
import { McpCaller } from '../../../bench/load/client.ts';
import { isRecord } from './clients.ts';
import { endpointUrl, newAgentName, tokenOf } from './endpoint.ts';

export interface TestAgent {
  readonly id: string;
  readonly token: string;
}

export interface AgentWishes {
  readonly role?: 'viewer' | 'worker' | 'leader';
  readonly maxConcurrentTasks?: number;
  readonly capabilities?: readonly string[];
}

/** Registers an agent with a unique name, using the credential of the seeded leader. */
export async function registerAgent(label: string, wishes: AgentWishes = {}): Promise<TestAgent> {
  const { role = 'worker', maxConcurrentTasks = 1, capabilities = ['coding'] } = wishes;
  const leader = new McpCaller(endpointUrl('/onboarding'), await tokenOf('leader'));
  const { agentId, credentials } = await leader.call('onboarding_registerAgent', {
    agentInfo: { name: newAgentName(label), type: 'developer', version: '1.0.0' },
    capabilities: capabilities.map((name) => ({ name, category: 'general' })),
    configuration: { maxConcurrentTasks },
    role,
  });
  return { id: String(agentId), token: bearerOf(credentials) };
}

/** Returns an agent's credential as used in an `Authorization` header. */
export function bearerOf(credentials: unknown): string {
  if (!isRecord(credentials)) throw new Error('The response contains no credentials.');
  return `${credentials['apiKey']}.${credentials['secret']}`;
}
