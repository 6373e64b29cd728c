/** The MCP Inspector's command line calls the coding tools, and reads the coding resources and templates. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { registerAgent } from './support/agents.ts';
import { isRecord } from './support/clients.ts';
import { CodingWork, PRINTED_TASK } from './support/codingWork.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { INSPECTOR_ERAS, type Inspection, Inspector } from './support/inspector.ts';

const PROJECT = 'owner/name';
const RESULT = { summary: 'Login and logout work.' };

const answered = z.object({
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
  structuredContent: z.looseObject({ status: z.string(), message: z.string(), result: z.looseObject({}) }),
});
const shown = z.object({ contents: z.tuple([z.object({ uri: z.string(), mimeType: z.string(), text: z.string() })]) });
const listed = z.object({ resources: z.array(z.object({ uri: z.string(), mimeType: z.string() })) });
const families = z.object({ resourceTemplates: z.array(z.object({ uriTemplate: z.string(), mimeType: z.string() })) });

/** URIs for which the server must return an error. */
const HOSTILE_URIS: readonly string[] = [
  'task://',
  'task://../../etc/passwd',
  'task://%2e%2e%2f%2e%2e%2fcredentials',
  'task://%00',
  'task://%zz',
  'task://__proto__',
  'task://{taskId}',
  `task://${'x'.repeat(5000)}`,
  "task://'; DROP TABLE tasks; --",
  'task://\u202e😀/logs',
  'session://shell/$(id).1',
  'branch:///tasks',
  'project://%7C/status',
  'log://agent/2026-13-45',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://169.254.169.254/latest/meta-data',
  'not a uri',
];

for (const era of INSPECTOR_ERAS)
  describe(`the MCP Inspector's command line (${era})`, () => {
    const workspace = newWorkspace('inspector');
    let inspector: Inspector;

    before(async () => {
      const { token } = await registerAgent('inspector');
      inspector = new Inspector(endpointUrl('/coding', { workspace }), token, era);
    });
    after(() => inspector?.close());

    async function result(method: string, ...options: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
      const { code, result: answer, error } = await inspector.run(method, ...options);
      assert.equal(code, 0, `${method} ${options.join(' ')}: ${error?.message} ${JSON.stringify(answer)}`);
      return answer ?? {};
    }

    const toolCall = (tool: string, args: object) =>
      ['tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)] as const;

    /** Returns the structured result of a successful call. Except for reports, the text must have the same data. */
    async function call(tool: string, args: object): Promise<z.output<typeof answered>['structuredContent']> {
      const { content, structuredContent } = answered.parse(await result(...toolCall(tool, args)));
      if (tool === 'report_task') assert.match(content[0].text, /^Coding task /);
      else assert.deepEqual(JSON.parse(content[0].text), structuredContent);
      assert.equal(structuredContent.status, 'success');
      return structuredContent;
    }

    async function createTask(config = {}): Promise<string> {
      const { result: created } = await call('create_task', { ...PRINTED_TASK, config });
      assert.equal(created['branch'], PRINTED_TASK.branch);
      return String(created['taskId']);
    }

    async function read(uri: string, mimeType: string): Promise<string> {
      const [content] = shown.parse(await result('resources/read', '--uri', uri)).contents;
      assert.deepEqual([content.uri, content.mimeType], [uri, mimeType]);
      return content.text;
    }

    it('accepts the schemas of all coding tools in strict mode', () => result('tools/list', '--strict'));

    it('can create, update, report on and end a coding task with the four tools for these actions', async () => {
      const taskId = await createTask();
      await call('update_task', { taskId, log: 'Begin with the login.' });
      const { result: report } = await call('report_task', { taskId });
      assert.ok(isRecord(report['task']));
      assert.deepEqual([report['task']['id'], report['task']['status']], [taskId, 'pending']);
      await call('end_task', { taskId, status: 'completed', result: RESULT });
      const { result: ended } = await call('report_task', { taskId });
      assert.ok(isRecord(ended['task']));
      assert.deepEqual([ended['task']['status'], ended['result']], ['completed', RESULT]);
    });

    it('waits for the end of a coding task: in revision 2026-07-28, as a task that it polls', async () => {
      const taskId = await createTask();
      const waiting = call('report_task', { taskId, until: 'end' });
      // The end is reported after a further run of the program, so that the first one is waiting by then.
      await result('tools/list');
      await call('end_task', { taskId, status: 'completed', result: RESULT });
      const { result: report } = await waiting;
      assert.deepEqual(report, (await call('report_task', { taskId })).result);
      assert.deepEqual(report['result'], RESULT);
    });

    it('lists the prompts of the coding toolset, and gets one with its arguments', async () => {
      const { prompts } = await result('prompts/list');
      assert.deepEqual(
        z
          .array(z.looseObject({ name: z.string() }))
          .parse(prompts)
          .map(({ name }) => name),
        ['delegate'],
      );
      const asked = ['--prompt-name', 'delegate', '--prompt-args', 'description=Add a login'];
      assert.match(JSON.stringify(await result('prompts/get', ...asked)), /Call create_task.*description: Add a login/);
    });

    it("exits with code 5 and shows the tool's error if a tool call fails", async () => {
      const refused = await inspector.run(...toolCall('report_task', { taskId: 'task-none-1' }));
      assert.deepEqual([refused.code, refused.error?.code], [5, 'tool_is_error']);
      const { structuredContent } = refused.result ?? {};
      assert.ok(isRecord(structuredContent) && isRecord(structuredContent['error']));
      assert.equal(structuredContent['error']['type'], 'NOT_FOUND');
    });

    it('reads every listed resource, and one resource of every template', async () => {
      const taskId = await createTask({ project: PROJECT });
      const work = await CodingWork.begin(workspace, taskId, PROJECT);
      const loggedAt = await work.log('Reading src/app.ts');
      await work.complete(RESULT);
      await work.close();

      const { resources } = listed.parse(await result('resources/list'));
      const uris = resources.map(({ uri }) => uri);
      assert.deepEqual(uris, ['agent://status', 'task://list', 'agent://tasks']);
      for (const { uri, mimeType } of resources) assert.ok(isRecord(JSON.parse(await read(uri, mimeType))), uri);
      assert.match(await read('task://list', 'application/json'), new RegExp(taskId));

      const { resourceTemplates } = families.parse(await result('resources/templates/list'));
      const members = membersOf(taskId, loggedAt.slice(0, 10));
      assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort(), [...members.keys()].sort());
      for (const { uriTemplate, mimeType } of resourceTemplates) {
        const { uri, shows } = members.get(uriTemplate) ?? { uri: uriTemplate, shows: /never/ };
        assert.match(await read(uri, mimeType), shows, uri);
      }
    });

    it('gets an error for each hostile URI, and can read a resource afterwards', async () => {
      for (const uri of HOSTILE_URIS) assertCivil(await inspector.run('resources/read', '--uri', uri), uri);
      await read('agent://status', 'application/json');
    });
  });

/** Returns one resource of each template. The task must have log entries of the given day. */
function membersOf(taskId: string, day: string): ReadonlyMap<string, { uri: string; shows: RegExp }> {
  return new Map([
    ['task://{taskId}', { uri: `task://${taskId}`, shows: /Reading src\/app\.ts/ }],
    ['task://{taskId}/logs', { uri: `task://${taskId}/logs`, shows: /INFO .*Reading src\/app\.ts\n/ }],
    ['task://{taskId}/result', { uri: `task://${taskId}/result`, shows: /Login and logout work/ }],
    ['session://{sessionType}/{sessionId}', { uri: `session://coding/${taskId}.1`, shows: /"isAlive": false/ }],
    ['branch://{branchName}/tasks', { uri: 'branch://feature%2Fauth/tasks', shows: new RegExp(taskId) }],
    ['project://{projectPath}/status', { uri: 'project://owner%2Fname/status', shows: new RegExp(taskId) }],
    ['log://{logType}/{date}', { uri: `log://agent/${day}`, shows: /Reading src\/app\.ts/ }],
  ]);
}

/** Asserts that the server returned an error that reveals no internals. */
function assertCivil({ code, result, error }: Inspection, uri: string): void {
  assert.deepEqual([code, result], [1, undefined], uri);
  assert.match(error?.message ?? '', /^Resource not found: | not found in this workspace\./, uri);
  assert.doesNotMatch(error?.message ?? '', /node_modules|\.[tj]s:\d+|root:/, uri);
}
