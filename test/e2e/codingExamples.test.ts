/** While a runner does a coding task, a client of revision 2026-07-28 is notified of changes of the task. */
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { registerAgent } from './support/agents.ts';
import { isRecord } from './support/clients.ts';
import { CodingWork, PRINTED_TASK } from './support/codingWork.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { eventually } from './support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

const MODERN = '2026-07-28';

describe('the resource of a coding task', () => {
  const shown = z.object({
    status: z.string(),
    logs: z.object({ latest: z.array(z.object({ message: z.string() })) }),
  });

  it("causes a notification to a listening client after each log entry and at the task's end", async () => {
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

    /** Reads the resource if a notification has arrived since the last read. */
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
      'the end of the task is announced',
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
