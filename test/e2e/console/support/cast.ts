/** The people and agents of the scripted day: Ada, her agents, and a runner with Claude Code. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { bearerOf, type TestAgent } from '../../support/agents.ts';
import { succeed } from '../../support/calls.ts';
import { type Connection, connect } from '../../support/clients.ts';
import { endpointUrl, MCP_URL, newAgentName, newWorkspace } from '../../support/endpoint.ts';
import { send } from '../../support/http.ts';
import { newPerson, setRole, type TestPerson } from '../../support/people.ts';
import { eventually } from '../../support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Player extends TestAgent {
  readonly client: Connection;
}

export interface Cast {
  readonly workspace: string;
  readonly url: string;
  readonly adaUid: string;
  /** The account with which Ada signs in. */
  readonly account: TestPerson;
  readonly ada: Connection;
  readonly lead: Player;
  readonly ann: Player;
  readonly bob: Player;
  readonly runner: TestAgent;
  leave(): Promise<void>;
}

/** Creates a workspace of Ada and four agents of hers. In this workspace, pull requests need her approval. */
export async function assemble(): Promise<Cast> {
  const workspace = newWorkspace('day');
  const url = endpointUrl('', { workspace });
  const account = await newPerson();
  const { uid: adaUid, token } = account;
  await setRole(adaUid, 'leader');
  const ada = await connect('client 2026-07-28', url, token);
  const founded = { name: workspace, repositories: ['sartor-ai/*'] };
  await eventually('Ada may create a workspace', async () => {
    const { isError } = await ada.call('access_create_workspace', founded);
    return !isError || undefined;
  });
  await succeed(ada, 'access_update_workspace', { approvals: [{ tool: 'github.createPR' }] });
  const agents = ['leader', 'worker', 'worker', 'worker'] as const;
  const [lead, ann, bob, runner] = await Promise.all(agents.map((role) => agentOf(ada, workspace, role)));
  assert.ok(lead && ann && bob && runner);
  const playing = async (agent: TestAgent): Promise<Player> => {
    const client = await connect('client 2026-07-28', url, agent.token);
    await succeed(client, 'coordination_register_agent', { agent_id: agent.id, role: 'worker' });
    return { ...agent, client };
  };
  const players = { lead: await playing(lead), ann: await playing(ann), bob: await playing(bob) };
  return {
    workspace,
    url,
    adaUid,
    account,
    ada,
    runner,
    ...players,
    async leave() {
      await Promise.all([ada, ...Object.values(players).map(({ client }) => client)].map((one) => one.close()));
    },
  };
}

async function agentOf(ada: Connection, workspace: string, role: 'worker' | 'leader'): Promise<TestAgent> {
  const { agentId, credentials } = await succeed(ada, 'onboarding_registerAgent', {
    agentInfo: { name: newAgentName(role), type: 'developer', version: '1.0.0' },
    capabilities: [{ name: 'coding', category: 'general' }],
    configuration: { maxConcurrentTasks: 5 },
    role,
    workspace,
  });
  return { id: String(agentId), token: bearerOf(credentials) };
}

/** The tasks that the leader plans as parts of the goal, in order. */
export const PLAN = [
  { description: 'Find out how others do it', priority: 1 },
  { description: 'Write the guide', priority: 2, dependencies: ['task-1'] },
  { description: 'Open the pull request', priority: 3 },
  { description: 'Ask the old vendor', priority: 4 },
  { description: 'Try it on the old browser', priority: 5 },
];

/** Creates the planned tasks. Returns their ids in the plan's order, and the arguments of the coding task. */
export async function plans({ client }: Player, workspace: string, goal: string) {
  const part_of = { kind: 'task', id: goal };
  const batch = await succeed(client, 'coordination_create_tasks_batch', { tasks: PLAN, part_of });
  const { task_ids: ids } = z.object({ task_ids: z.array(z.string()) }).parse(batch);
  const draft = { branch: `feature/${workspace}`, part_of, config: { acceptance: 'test -f src/auth.js' } };
  return { ids, draft };
}

const AT = { owner: 'sartor-ai', repo: 'claude-network' };

/** Pushes a branch. Returns a function that calls `github_createPR` for the branch, which requires an approval. */
export async function proposes({ client }: Player, workspace: string, task_id: string | undefined) {
  const branch = `fix/${workspace}`;
  const files = [{ path: 'src/login.ts', content: `export const LOGIN = '${workspace}';\n` }];
  await succeed(client, 'github_createBranch', { ...AT, branch });
  await succeed(client, 'github_commitFiles', { ...AT, branch, message: 'Log in', files });
  const pull = { ...AT, title: 'Log in', head: branch, base: 'main', task_id };
  return () => client.call('github_createPR', pull);
}

/** Returns the repository's id, as in GitHub's webhook deliveries. */
async function repositoryId(): Promise<number> {
  const url = process.env['GITHUB_API_URL'] ?? '';
  const { json } = await send(`${url}/repos/${AT.owner}/${AT.repo}`, {});
  return z.object({ id: z.number() }).parse(json).id;
}

const taskResponse = z.object({ task: z.object({ id: z.string() }) });

/** Creates a task or to-do with the given tool, and returns the id of the new item. */
export async function made(client: Connection, tool: string, args: Fields): Promise<string> {
  return taskResponse.parse(await succeed(client, tool, args)).task.id;
}

/** Claims the next task of the queue, and asserts that it is the given task. */
export async function claims({ client, id }: Player, task: string): Promise<void> {
  assert.equal(await made(client, 'coordination_claim_task', { agent_id: id }), task);
}

export async function completes({ client, id }: Player, task_id: string, more: Fields = {}): Promise<void> {
  await succeed(client, 'coordination_complete_task', { agent_id: id, task_id, output: 'It is done.', ...more });
}

/** Sends the signed webhook delivery with which GitHub reports that the pull request is merged. */
export async function merged(number: unknown): Promise<void> {
  const pull_request = { number, merged: true, merge_commit_sha: 'c'.repeat(40) };
  const body = JSON.stringify({ action: 'closed', repository: { id: await repositoryId() }, pull_request });
  const secret = process.env['GITHUB_WEBHOOK_SECRET'] ?? '';
  const { status } = await send(MCP_URL.replace(/\/mcp$/, '/githubWebhook'), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'pull_request',
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  });
  assert.equal(status, 202);
}

const provingTasks = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      verifying: z.object({ step: z.string() }).optional(),
      sent_back: z.array(z.object({ comments: z.string() })).optional(),
      proven: z.array(z.object({ step: z.string() })).optional(),
    }),
  ),
});

/** Returns what is proven of a task, and what was sent back. */
export async function provingTask(client: Connection, id: string) {
  const { tasks } = provingTasks.parse(await succeed(client, 'coordination_get_all_tasks'));
  return tasks.find((task) => task.id === id);
}
