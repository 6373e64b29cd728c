/** Hostile input, through the real endpoint, for every tool that it lists. */
import fc from 'fast-check';
import { registerAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { connect, isRecord, type ListedTool } from './support/clients.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { assertCivil, hostileArguments } from './support/hostile.ts';
import { post } from './support/http.ts';

const RUNS = 40;

describe('hostile arguments', () => {
  const url = endpointUrl('', { workspace: newWorkspace('hostile') });
  let token: string;
  let tools: readonly ListedTool[];
  let known: Readonly<Record<string, unknown>>;

  before(async () => {
    const agent = await registerAgent('hostile', { role: 'leader' });
    token = agent.token;
    const client = await connect('client 2026-07-28', url, token);
    tools = await client.listTools();
    const created = await succeed(client, 'coordination_create_task', { description: 'A victim' });
    const task_id = isRecord(created['task']) ? created['task']['id'] : undefined;
    await succeed(client, 'coordination_register_agent', { agent_id: agent.id, role: 'worker' });
    await succeed(client, 'coordination_claim_task', { agent_id: agent.id });
    await client.close();
    known = { agent_id: agent.id, task_id, task_ids: [task_id], lease_seconds: 600 };
  });

  it('get a clear answer from every tool', async function () {
    this.timeout(RUNS * tools.length * 1000);
    for (const { name, inputSchema } of tools) {
      await fc.assert(
        fc.asyncProperty(hostileArguments(inputSchema, known), async (args) => {
          const body = JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name, arguments: args },
          });
          assertCivil(await post(url, token, body), body);
        }),
        { numRuns: RUNS, endOnFailure: true, includeErrorInReport: true },
      );
    }
  });
});
