/** Hostile input, through the real endpoint, for every tool that it lists. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { registerAgent } from './support/agents.ts';
import { type Connection, connect, isRecord, type ListedTool } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { assertCivil, hostileArguments } from './support/hostile.ts';
import { type HttpAnswer, post } from './support/http.ts';
import { newCodingTask, newRun, newTask, newTodos, type Victims } from './support/victims.ts';

const RUNS = 40;

describe('hostile arguments', () => {
  const url = endpointUrl('', { workspace: newWorkspace('hostile') });
  let tools: readonly ListedTool[];

  before(async () => {
    const client = await connect('client 2026-07-28', url, await tokenOf('leader'));
    tools = await client.listTools();
    await client.close();
  });

  /** An agent of each tool's own, which no limit of calls holds up, with something that it may harm. */
  async function attacker(tool: string): Promise<{ token: string; victims: Victims }> {
    const agent = await registerAgent('hostile', { role: 'leader' });
    const client = await connect('client 2026-07-28', url, agent.token);
    try {
      return { token: agent.token, victims: await victimsOf(tool, client, agent.id) };
    } finally {
      await client.close();
    }
  }

  it('get a clear answer from every tool', async function () {
    this.timeout(RUNS * tools.length * 2000);
    for (const { name, inputSchema } of tools) {
      const { token, victims } = await attacker(name);
      let succeeded = 0;
      await fc.assert(
        fc.asyncProperty(hostileArguments(inputSchema, victims), async (args) => {
          const params = { name, arguments: args };
          const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
          const answer = await post(url, token, body);
          assertCivil(answer, body);
          if (isSuccess(answer)) succeeded += 1;
        }),
        { numRuns: RUNS, endOnFailure: true, includeErrorInReport: true },
      );
      if (/^(todo|coding)_/.test(name)) assert.ok(succeeded > 0, `${name} never succeeded`);
    }
  });
});

function victimsOf(tool: string, client: Connection, agentId: string): Promise<Victims> {
  if (tool.startsWith('todo_')) return newTodos(client);
  if (tool.startsWith('coding_')) return newCodingTask(client);
  return tool.startsWith('orchestration_') ? newRun(client) : newTask(client, agentId);
}

function isSuccess({ json }: HttpAnswer): boolean {
  return isRecord(json) && isRecord(json['result']) && json['result']['isError'] !== true;
}
