/** Those who attack: agents of each role, with something of their own that they may harm. */
import { type Connection, connect, isRecord } from '../../e2e/support/clients.ts';
import { newCodingTask, newRun, newTask, newTodos, type Victims } from '../../e2e/support/victims.ts';

export const ROLES = ['leader', 'worker', 'viewer'] as const;

export interface Attacker {
  readonly token: string;
  readonly victims: Victims;
}

let registered = 0;

/** An agent of a role that nobody else calls as. */
async function newAgent(leader: Connection, role: (typeof ROLES)[number]) {
  registered += 1;
  const { isError, text, structured } = await leader.call('onboarding_registerAgent', {
    agentInfo: { name: `attacker-${role}-${registered}`, type: 'developer', version: '1.0.0' },
    capabilities: [{ name: 'coding', category: 'general' }],
    role,
  });
  const { agentId, credentials } = structured;
  if (isError || !isRecord(credentials)) throw new Error(`No attacker was registered: ${text}`);
  return { id: String(agentId), token: `${credentials['apiKey']}.${credentials['secret']}` };
}

/** Attackers of each role for a tool; the leader's victims are right for it, and foreign to the others. */
export async function attackersOf(url: string, leaderToken: string, tool: string): Promise<Attacker[]> {
  const leader = await connect('client 2025-11-25', url, leaderToken);
  try {
    const [first, ...others] = await Promise.all(ROLES.map((role) => newAgent(leader, role)));
    if (first === undefined) return [];
    const owner = await connect('client 2025-11-25', url, first.token);
    const victims = await victimsOf(tool, owner, first.id).finally(() => owner.close());
    // The first call of an agent is written down: it is no longer offline.
    for (const { token } of others) await (await connect('client 2025-11-25', url, token)).close();
    return [first, ...others].map(({ token }) => ({ token, victims }));
  } finally {
    await leader.close();
  }
}

function victimsOf(tool: string, client: Connection, agentId: string): Promise<Victims> {
  if (tool.startsWith('todo_')) return newTodos(client);
  if (tool.startsWith('coding_')) return newCodingTask(client);
  return tool.startsWith('orchestration_') ? newRun(client) : newTask(client, agentId);
}
