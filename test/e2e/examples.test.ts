/**
 * Makes ten calls that the specifications print, through `/mcp/rpc` and with each kind of MCP client. The responses
 * must have the printed fields and types. test/integration does this for all printed calls, without a server.
 */
import assert from 'node:assert/strict';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { agentPath } from '../../functions/src/kernel/firestore/paths.ts';
import { RESPONSES } from '../support/printedCoordination.ts';
import { assertShape } from '../support/shape.ts';
import { registerAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { connect, ERAS, isRecord } from './support/clients.ts';
import { PRINTED_TASK } from './support/codingWork.ts';
import { endpointUrl, newAgentName, newWorkspace, tokenOf } from './support/endpoint.ts';
import { post } from './support/http.ts';
import { newPerson } from './support/people.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Example {
  /** Toolset whose endpoint the test calls. Its tools have their names in the specification. */
  readonly endpoint: 'network' | 'coordination' | 'todo' | 'coding';
  readonly tool: string;
  readonly args: Fields;
  readonly prints: Fields;
}

/** @param me id of the agent that the examples name */
function examplesFor(me: string): readonly Example[] {
  const presentation = { title: 'Finish presentation', priority: 'HIGH', tags: ['work', 'urgent'] };
  const made = { id: 'x', ...presentation, completed: false, created_at: '2026-02-10T08:00:00.000Z' };
  const at = { timestamp: '2025-11-03T10:30:00Z' };
  const push = { operation: 'push', path: 'messages/conversations/conv-123' };
  const of = (endpoint: Example['endpoint']) => (tool: string, args: Fields, prints: Fields) => ({
    endpoint,
    tool,
    args,
    prints,
  });
  const { dependencies: _, ...task } = RESPONSES.create_task.task;
  const [network, coordination, todo] = [of('network'), of('coordination'), of('todo')];
  return [
    network(
      'firebase.read',
      { database: 'firestore', path: 'agents/agent-001', query: { limit: 10 } },
      {
        success: true,
        data: { id: 'agent-001', name: 'Research Agent', status: 'active', capabilities: ['research'] },
        metadata: { path: 'agents/agent-001', count: 1, ...at },
      },
    ),
    network(
      'firebase.write',
      { database: 'firestore', ...push, data: { from: 'agent-001', message: 'Task completed successfully' } },
      { success: true, key: 'msg-xyz789', metadata: { ...push, ...at } },
    ),
    network(
      'github.readFile',
      { owner: 'sartor-ai', repo: 'claude-network', path: 'README.md', ref: 'main' },
      {
        content: '# Claude Network\n\nA distributed AI agent system...',
        metadata: { path: 'README.md', size: 2048, sha: 'abc123def456', encoding: 'utf8', type: 'file' },
      },
    ),
    coordination(
      'init_coordination',
      { goal: 'Build a REST API for user management', master_plan: '1. Design data models' },
      RESPONSES.init_coordination,
    ),
    coordination(
      'create_task',
      {
        description: 'Implement user login endpoint',
        priority: 1,
        context_files: ['src/auth/login.ts'],
        hints: 'Use JWT',
      },
      { success: true, task },
    ),
    coordination('register_agent', { agent_id: me, role: 'worker' }, RESPONSES.register_agent),
    coordination('claim_task', { agent_id: me }, RESPONSES.claim_task),
    todo('add_task', presentation, { success: true, task: made, message: 'x' }),
    todo('list_tasks', { priority: 'HIGH', tags: ['work'] }, { tasks: [made], total: 1 }),
    of('coding')('create_task', PRINTED_TASK, {
      status: 'success',
      message: 'x',
      result: { taskId: 'x', branch: 'feature/auth' },
    }),
  ];
}

type Call = (example: Example, url: string, token: string) => Promise<Fields>;

/** Returns the tool's name at endpoints that list tools with the toolset as prefix. */
const fullName = ({ endpoint, tool }: Example): string => (endpoint === 'network' ? tool : `${endpoint}.${tool}`);

const throughRpc: Call = async (example, url, token) => {
  const message = { jsonrpc: '2.0', id: '4', method: fullName(example), params: example.args };
  const { status, json, text } = await post(url, token, JSON.stringify(message));
  assert.equal(status, 200, text);
  assert.ok(isRecord(json) && isRecord(json['result']), text);
  assert.deepEqual([json['jsonrpc'], json['id']], ['2.0', '4']);
  return json['result'];
};

const throughMcp =
  (era: (typeof ERAS)[number]): Call =>
  async ({ tool, args }, url, token) => {
    const client = await connect(era, url, token);
    try {
      return await succeed(client, tool, args);
    } finally {
      await client.close();
    }
  };

const WAYS: readonly (readonly [string, Call])[] = [
  ['/mcp/rpc', throughRpc],
  ...ERAS.map((era) => [era, throughMcp(era)] as const),
];

for (const [name, call] of WAYS)
  it(`ten calls from the specifications return the printed response through ${name}`, async () => {
    // Another test may have marked the agent offline.
    await firestore().doc(agentPath('agent-001')).update({ status: 'active' });
    const own = { network: (await registerAgent('examples')).token, todo: (await newPerson()).token };
    const tokens = { ...own, coordination: await tokenOf('leader'), coding: await tokenOf('leader') };
    const workspace = newWorkspace('examples');
    // The id has the form of ids that registration generates, so no other test can have chosen it.
    const examples = examplesFor(`${newAgentName('terminal')}-x`);
    assert.equal(examples.length, 10);
    for (const example of examples) {
      const { endpoint, prints } = example;
      const path = call === throughRpc ? '/rpc' : `/${endpoint}`;
      const url = endpointUrl(path, endpoint in own ? {} : { workspace });
      assertShape(await call(example, url, tokens[endpoint]), prints, fullName(example));
    }
  });
