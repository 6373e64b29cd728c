/** Those who attack: agents of each role, with something of their own that they may harm. */
import { type Connection, connect, isRecord } from '../../e2e/support/clients.ts';
import {
  newCodingTask,
  newRequests,
  newRun,
  newTask,
  newTodos,
  type Victims,
} from '../../e2e/support/victims.ts';

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

/** Attackers of each role; the leader has victims of its own, which are foreign to the others. */
export class Attackers {
  private readonly url: string;
  private readonly leader: Connection;
  private readonly others: readonly string[];
  private readonly unharmed = new Map<string, Promise<readonly Attacker[]>>();

  private constructor(url: string, leader: Connection, others: readonly string[]) {
    this.url = url;
    this.leader = leader;
    this.others = others;
  }

  static async open(url: string, leaderToken: string): Promise<Attackers> {
    const leader = await connect('client 2025-11-25', url, leaderToken);
    const others: string[] = [];
    for (const role of ROLES.filter((one) => one !== 'leader')) {
      const { token } = await newAgent(leader, role);
      // The first call of an agent is written down: it is no longer offline.
      await (await connect('client 2025-11-25', url, token)).close();
      others.push(token);
    }
    return new Attackers(url, leader, others);
  }

  /** Those that attack a tool, the leader first. Tools of a toolset that only read have the same victims. */
  of(tool: string, isReading: boolean): Promise<readonly Attacker[]> {
    if (!isReading) return this.withVictims(tool);
    const toolset = tool.slice(0, tool.indexOf('_'));
    const found = this.unharmed.get(toolset) ?? this.withVictims(tool);
    this.unharmed.set(toolset, found);
    return found;
  }

  private async withVictims(tool: string): Promise<readonly Attacker[]> {
    const { id, token } = await newAgent(this.leader, 'leader');
    const owner = await connect('client 2025-11-25', this.url, token);
    const victims = await victimsOf(tool, owner, id).finally(() => owner.close());
    return [token, ...this.others].map((one) => ({ token: one, victims }));
  }

  close(): Promise<void> {
    return this.leader.close();
  }
}

function victimsOf(tool: string, client: Connection, agentId: string): Promise<Victims> {
  if (tool.startsWith('todo_')) return newTodos(client, tool === 'todo_reopen_task');
  if (tool.startsWith('coding_')) return newCodingTask(client);
  if (tool.startsWith('inbox_')) return newRequests(client, agentId);
  return tool.startsWith('orchestration_') ? newRun(client) : newTask(client, agentId);
}
