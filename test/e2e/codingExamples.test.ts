/** The examples of the coding specification, and its resources while a task goes on, in each era of MCP. */
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect, ERAS, isRecord } from './support/clients.ts';
import { CodingWork, PRINTED_TASK } from './support/codingWork.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { eventually } from './support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

const MODERN = '2026-07-28';

/** "Creating a Task via MCP". */
const PRINTED_CALL = {
  name: 'create_task',
  arguments: {
    tool: 'CLAUDECODE',
    description: 'Fix bug in auth module',
    instructions: 'Debug and fix the login issue',
  },
} as const;

for (const era of ERAS) {
  describe(`the examples of the coding specification through ${era}`, () => {
    const workspace = newWorkspace('coding');
    let agent: TestAgent;
    let client: Connection;

    before(async () => {
      agent = await registerAgent('creator');
      client = await connect(era, endpointUrl('/coding', { workspace }), agent.token);
    });
    after(() => client?.close());

    /** What a tool answers within the format of "Tool Response Format". */
    async function call(tool: string, args: Fields): Promise<Fields> {
      const { status, message, result } = await succeed(client, tool, args);
      assert.equal(status, 'success');
      assert.ok(typeof message === 'string' && message.length > 0);
      return fieldsOf(result);
    }

    const read = async (uri: string): Promise<Fields> => fieldsOf(JSON.parse(await client.read(uri)));

    it('create_task, as printed, is done by a runner; tools and resources show how it goes', async () => {
      const { taskId, branch } = await call('create_task', PRINTED_TASK);
      const task = `task://${taskId}`;
      assert.equal(branch, 'feature/auth');
      assert.equal((await read(task))['status'], 'pending');
      await assert.rejects(client.read(`${task}/result`), /has no result/);

      const work = await CodingWork.begin(workspace, String(taskId));
      await work.log('Reading src/app.ts');
      await call('update_task', { taskId, log: 'Take the library that is there.' });
      const running = await read(task);
      assert.deepEqual([running['status'], running['hasResult']], ['in_progress', false]);
      assert.match(
        await client.read(`${task}/logs`),
        /INFO .*Reading src\/app\.ts\n.*Take the library that is there\.\n$/,
      );
      assert.equal((await read('agent://status'))['activeTasks'], 1);

      await work.complete({ summary: 'Login and logout work.' });
      await work.close();
      const { task: reported, result } = await call('report_task', { taskId });
      assert.equal(fieldsOf(reported)['status'], 'completed');
      assert.deepEqual(result, { summary: 'Login and logout work.' });
      assert.deepEqual(await read(`${task}/result`), result);
    });

    it('the call, as printed, gets a branch, and end_task ends it', async () => {
      const { taskId, branch } = await call(PRINTED_CALL.name, PRINTED_CALL.arguments);
      assert.match(String(branch), /^task\/[a-z0-9]+-fix-bug-in-auth-module$/);
      for (const uri of ['task://list', 'agent://tasks', `branch://${branch}/tasks`]) {
        const { tasks } = await read(uri);
        assert.ok(Array.isArray(tasks) && tasks.some(({ id }) => id === taskId), uri);
      }
      await call('end_task', { taskId, status: 'failed', result: { reason: 'Not wanted any more' } });
      const ended = await read(`task://${taskId}`);
      assert.deepEqual([ended['status'], ended['state']], ['failed', 'cancelled']);
      const { isError, text } = await client.call('update_task', { taskId, status: 'in_progress' });
      assert.equal(isError, true);
      const { status, message, error } = fieldsOf(JSON.parse(text));
      assert.deepEqual(
        [status, typeof message, typeof fieldsOf(error)['type']],
        ['error', 'string', 'string'],
      );
    });

    it('resources/read, as printed, is told that nobody has made that task', async () => {
      await assert.rejects(client.read('task://12345'), /There is no coding task "12345"/);
    });
  });
}

describe('a coding task that a client of 2026-07-28 listens to', () => {
  const shown = z.object({
    status: z.string(),
    logs: z.object({ latest: z.array(z.object({ message: z.string() })) }),
  });

  it('is announced with each change, and shows what was logged', async () => {
    const workspace = newWorkspace('listening');
    const agent = await registerAgent('listener');
    const client = new Client(
      { name: 'muster-e2e', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: MODERN } } },
    );
    let [announced, looked] = [0, 0];
    const requestInit = { headers: { Authorization: `Bearer ${agent.token}` } };
    const url = new URL(endpointUrl('/coding', { workspace }));
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    const { structuredContent } = await client.callTool({ name: 'create_task', arguments: PRINTED_TASK });
    const taskId = String(fieldsOf(fieldsOf(structuredContent)['result'])['taskId']);
    const uri = `task://${taskId}`;
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      if (params.uri === uri) announced += 1;
    });
    const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri, 'task://12345'] });
    assert.deepEqual(honoredFilter, { resourceSubscriptions: [uri] });

    /** Reads only when it has been told to, as a client does. */
    async function readOnceAnnounced(): Promise<z.output<typeof shown> | undefined> {
      if (announced === looked) return undefined;
      looked = announced;
      const [content] = (await client.readResource({ uri })).contents;
      assert.ok(content && 'text' in content);
      return shown.parse(JSON.parse(content.text));
    }
    const work = await CodingWork.begin(workspace, taskId);
    for (const line of ['Reading src/app.ts', 'Writing src/login.ts', 'Running the tests']) {
      await work.log(line);
      await eventually(`"${line}" is announced`, async () => {
        const lines = (await readOnceAnnounced())?.logs.latest ?? [];
        return lines.some(({ message }) => message === line) || undefined;
      });
    }
    await work.complete({ summary: 'Login and logout work.' });
    await eventually(
      'the end is announced',
      async () => (await readOnceAnnounced())?.status === 'completed' || undefined,
    );
    await work.close();
    await client.close();
  });
});

function fieldsOf(value: unknown): Fields {
  assert.ok(isRecord(value), JSON.stringify(value));
  return value;
}
