/** GitHub and Muster's functions: a task whose pull request is merged, and GitHub's webhook deliveries. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { registerAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { endpointUrl, MCP_URL, newWorkspace, tokenOf } from './support/endpoint.ts';
import { type HttpResponse, send } from './support/http.ts';

const AT = { owner: 'sartor-ai', repo: 'claude-network' };

const GITHUB_URL = process.env['GITHUB_API_URL'] ?? '';

describe('the function githubWebhook', () => {
  const workspace = newWorkspace('github');
  let client: Connection;

  before(async () => {
    const agent = await registerAgent('github', { role: 'leader' });
    const person = await connect('client 2026-07-28', endpointUrl('/access'), await tokenOf('person'));
    const repositories = ['sartor-ai/claude-network'];
    await succeed(person, 'create_workspace', { name: workspace, repositories });
    await person.close();
    client = await connect('client 2026-07-28', endpointUrl('', { workspace }), agent.token);
  });

  after(async () => {
    await client?.close();
    const problems = await send(`${GITHUB_URL}/-/problems`, {});
    assert.deepEqual(problems.json, [], 'requests that GitHub would reject');
  });

  it("completes a task when GitHub reports that the task's pull request is merged", async () => {
    const branch = `fix/${workspace}`;
    const created = await succeed(client, 'coordination_create_task', { description: 'End retries' });
    assert.ok(isRecord(created['task']));
    const task = String(created['task']['id']);
    await succeed(client, 'github_createBranch', { ...AT, branch });
    const files = [{ path: 'src/retry.ts', content: `export const MAX_RETRIES = 3; // ${workspace}\n` }];
    const { sha } = await succeed(client, 'github_commitFiles', { ...AT, branch, message: 'End them', files });
    const pull = { ...AT, title: 'End retries', head: branch, base: 'main', task_id: task };
    const { number, headSha } = await succeed(client, 'github_createPR', pull);
    assert.equal(headSha, sha);

    const repository = { id: await repositoryId() };
    const merged = { action: 'closed', repository, pull_request: { number, merged: true } };
    const { status, text } = await deliver('pull_request', JSON.stringify(merged));
    assert.deepEqual([status, text], [202, 'Accepted.']);
    const { tasks } = await succeed(client, 'coordination_get_all_tasks', { status_filter: 'done' });
    assert.ok(Array.isArray(tasks) && tasks.some((one) => isRecord(one) && one['id'] === task));
  });

  it('rejects deliveries without a valid signature, and reveals no internals', async () => {
    const forged = await deliver('pull_request', '{"action":"closed"}', 'sha256=00');
    assert.equal(forged.status, 401);
    assert.match(forged.text, /^Invalid signature\. .*GITHUB_WEBHOOK_SECRET/);
    const malformed = await deliver('pull_request', '{"action":');
    assert.equal(malformed.status, 400);
    assert.doesNotMatch(malformed.text, /<|at .*:\d+/);
    assert.equal((await deliver('ping', '{"zen":"Design for failure."}')).status, 204);
    assert.equal((await send(webhookUrl(), {})).status, 405);
  });
});

function webhookUrl(): string {
  return MCP_URL.replace(/\/mcp$/, '/githubWebhook');
}

function deliver(event: string, body: string, signature = signed(body)): Promise<HttpResponse> {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-hub-signature-256': signature,
  };
  return send(webhookUrl(), { method: 'POST', headers, body });
}

function signed(body: string): string {
  const secret = process.env['GITHUB_WEBHOOK_SECRET'] ?? '';
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

async function repositoryId(): Promise<unknown> {
  const { json } = await send(`${GITHUB_URL}/repos/${AT.owner}/${AT.repo}`, {});
  assert.ok(isRecord(json));
  return json['id'];
}
