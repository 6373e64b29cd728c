/** Attackers are agents of each role. Victims are existing items that an attacker's hostile arguments name. */
import { McpCaller } from '../../../bench/load/client.ts';
import { isRecord } from '../../e2e/support/clients.ts';
import { newCodingTask, newRequests, newRun, newTask, newTodos, type Victims } from './victims.ts';

export const ROLES = ['leader', 'worker', 'viewer'] as const;

export interface Attacker {
  readonly token: string;
  readonly victims: Victims;
}

let registered = 0;

/** Registers an agent that only this test uses. */
async function newAgent(leader: McpCaller, role: (typeof ROLES)[number]) {
  registered += 1;
  const { agentId, credentials } = await leader.call('onboarding_registerAgent', {
    agentInfo: { name: `attacker-${role}-${registered}`, type: 'developer', version: '1.0.0' },
    capabilities: [{ name: 'coding', category: 'general' }],
    role,
  });
  if (!isRecord(credentials)) throw new Error('No attacker was registered.');
  return { id: String(agentId), token: `${credentials['apiKey']}.${credentials['secret']}` };
}

/** One attacker of each role. All name the same victims, which only the leader owns. */
export class Attackers {
  private readonly url: string;
  private readonly leader: McpCaller;
  private readonly others: readonly string[];
  private readonly unharmed = new Map<string, Promise<readonly Attacker[]>>();

  private constructor(url: string, leader: McpCaller, others: readonly string[]) {
    this.url = url;
    this.leader = leader;
    this.others = others;
  }

  static async open(url: string, leaderToken: string): Promise<Attackers> {
    const leader = new McpCaller(url, leaderToken);
    const others: string[] = [];
    for (const role of ROLES.filter((one) => one !== 'leader')) {
      const { token } = await newAgent(leader, role);
      // The first call of an agent stores its presence. This write must not count as a cost of an attack.
      await new McpCaller(url, token).send('tools/list');
      others.push(token);
    }
    return new Attackers(url, leader, others);
  }

  /** Returns the attackers of a tool, the leader first. The read-only tools of a toolset share their victims. */
  of(tool: string, isReading: boolean): Promise<readonly Attacker[]> {
    if (!isReading) return this.withVictims(tool);
    const toolset = tool.slice(0, tool.indexOf('_'));
    const found = this.unharmed.get(toolset) ?? this.withVictims(tool);
    this.unharmed.set(toolset, found);
    return found;
  }

  private async withVictims(tool: string): Promise<readonly Attacker[]> {
    const { id, token } = await newAgent(this.leader, 'leader');
    const victims = await victimsOf(tool, new McpCaller(this.url, token), id);
    return [token, ...this.others].map((one) => ({ token: one, victims }));
  }
}

function victimsOf(tool: string, client: McpCaller, agentId: string): Promise<Victims> {
  if (tool.startsWith('todo_')) return newTodos(client, tool === 'todo_reopen_task');
  if (tool.startsWith('coding_')) return newCodingTask(client);
  if (tool.startsWith('inbox_')) return newRequests(client, agentId);
  return tool.startsWith('orchestration_') ? newRun(client) : newTask(client, agentId);
}
