/** Requests to models, from the tool call to the vendor's API and back, with the deployed functions. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { RemoteModels } from '../support/models/remote.ts';
import { registerAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { eventually } from './support/waiting.ts';

const PATIENCE_MS = 180_000;

describe('hosted agents of the deployed functions', () => {
  const models = new RemoteModels(process.env['ANTHROPIC_BASE_URL'] ?? '');
  let client: Connection;

  before(async () => {
    const { token } = await registerAgent('models', { role: 'worker' });
    const url = endpointUrl('/orchestration', { workspace: newWorkspace('models') });
    client = await connect('client 2026-07-28', url, token);
  });

  after(async () => {
    await client?.close();
    assert.deepEqual(await models.problems(), [], 'requests that the vendors would reject');
  });

  async function ended(answer: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    if (answer['status'] === 'succeeded') return answer;
    return eventually(
      'the run succeeds',
      async () => {
        const seen = await succeed(client, 'get_run', { runId: answer['runId'] });
        return seen['status'] === 'succeeded' ? seen : undefined;
      },
      PATIENCE_MS,
    );
  }

  it("are listed as available if their vendors' API keys are set", async () => {
    const { agents } = await succeed(client, 'list_agents');
    assert.ok(Array.isArray(agents));
    for (const name of ['claude', 'gemini']) {
      const agent: unknown = agents.find((one) => isRecord(one) && one['name'] === name);
      assert.ok(isRecord(agent));
      assert.equal(agent['status'], 'available', name);
    }
  });

  for (const [agent, vendor] of [
    ['claude', 'anthropic'],
    ['gemini', 'gemini'],
  ] as const)
    it(`answer a prompt for ${agent} with a single request to ${vendor}`, async () => {
      const prompt = `Through ${agent}: ${randomUUID()}`;
      await models.when({ text: prompt, vendor }, { does: 'answer', text: `Said by ${agent}.` });
      const preferences = { agent, workflow: 'direct', cache: false };
      const answer = await ended(await succeed(client, 'orchestrate', { prompt, preferences }));
      assert.equal(answer['result'], `Said by ${agent}.`);
      const asked = await models.askedAbout(prompt);
      const vendors = asked.map((one) => one.vendor);
      assert.deepEqual(vendors, [vendor]);
    });

  it('close the connection to the vendor if their agent loses a race against another agent', async () => {
    const prompt = `Race: ${randomUUID()}`;
    await models.when({ text: prompt, vendor: 'gemini' }, { does: 'answer', text: 'First!', company: 2 });
    await models.when({ text: prompt, vendor: 'anthropic' }, { does: 'hang' });
    const args = { prompt, agents: ['claude', 'gemini'], mode: 'race' };
    const answer = await ended(await succeed(client, 'orchestrate_parallel', args));
    assert.equal(answer['result'], 'First!');
    const loser = await eventually(
      "the loser's connection closes",
      async () => (await models.askedAbout(prompt)).find(({ closedAt }) => closedAt !== undefined),
      PATIENCE_MS,
    );
    assert.equal(loser.vendor, 'anthropic');
  });
});
