/** Hostile input, through the real endpoint, for every tool that it lists. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { registerAgent } from './support/agents.ts';
import { type Connection, connect, isRecord, type ListedTool } from './support/clients.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { assertCivil, hostileArguments } from './support/hostile.ts';
import { type HttpAnswer, post } from './support/http.ts';
import { claimedTask, newTodos, type Victims } from './support/victims.ts';

const RUNS = 40;

describe('hostile arguments', () => {
  const url = endpointUrl('', { workspace: newWorkspace('hostile') });
  let token: string;
  let client: Connection;
  let tools: readonly ListedTool[];
  let task: Victims;

  before(async () => {
    const agent = await registerAgent('hostile', { role: 'leader' });
    token = agent.token;
    client = await connect('client 2026-07-28', url, token);
    tools = await client.listTools();
    task = await claimedTask(client, agent.id);
  });
  after(() => client?.close());

  it('get a clear answer from every tool', async function () {
    this.timeout(RUNS * tools.length * 1000);
    for (const { name, inputSchema } of tools) {
      const isTodo = name.startsWith('todo_');
      const victims = isTodo ? await newTodos(client) : task;
      let succeeded = 0;
      await fc.assert(
        fc.asyncProperty(hostileArguments(inputSchema, victims), async (args) => {
          const body = JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name, arguments: args },
          });
          const answer = await post(url, token, body);
          assertCivil(answer, body);
          if (isSuccess(answer)) succeeded += 1;
        }),
        { numRuns: RUNS, endOnFailure: true, includeErrorInReport: true },
      );
      if (isTodo) assert.ok(succeeded > 0, `${name} was reached`);
    }
  });
});

function isSuccess({ json }: HttpAnswer): boolean {
  return isRecord(json) && isRecord(json['result']) && json['result']['isError'] !== true;
}
