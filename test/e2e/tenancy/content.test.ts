/**
 * Even within a workspace, private texts such as questions are visible only to the people concerned. The test lets
 * other callers, including leaders, call every tool and read every resource. No response may contain a private text.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { eventually } from '../support/waiting.ts';
import { mayRead } from './direct.ts';
import { CALLABLE_BY_TOOLSET, RESOURCES, TOOLS } from './entries.ts';
import { type CallerName, TenancyFixture } from './fixture.ts';
import { type Ids, makeThings } from './things.ts';

/** Callers who may not see Cas's texts. The first four are leaders of his workspace, or their agents. */
const OTHERS: readonly CallerName[] = [
  ...(['bea the leader', 'bea herself', 'ann the leader', 'ann herself'] as const),
  ...(['ann the worker', 'nobody'] as const),
];

/** Callers that the test uses. The default run uses a leader's agent, a leader, and a person without a role. */
const ASKING = defaultOrNightly<readonly CallerName[]>(['bea the leader', 'ann herself', 'nobody'], { night: OTHERS });

describe('private texts of a person', function () {
  this.timeout('3m');
  const fixture = new TenancyFixture();
  const mark = randomUUID().slice(0, 8);
  /** The private texts, by a description of each text. Each text is unique. */
  const texts = new Map<string, string>();
  let ids: Ids;
  let casAgent: string;
  const documents: string[] = [];
  /** Id of the audit entry about the question. */
  let entry: string;

  const secretOf = (what: string): string => {
    const text = `${what.replaceAll(' ', '-')}-${mark}`;
    texts.set(what, text);
    return text;
  };
  const as = (caller: CallerName, tool: string, args: JsonObject) => fixture.result(caller, fixture.alpha, tool, args);
  const heardIn = (answer: string) => [...texts].flatMap(([what, text]) => (answer.includes(text) ? [what] : []));

  before(async () => {
    await fixture.begin();
    const things = await makeThings(fixture);
    await fixture.app.kernel.store.commit([
      {
        kind: 'setMember',
        member: { uid: fixture.bea, workspace: fixture.alpha, role: 'leader', added_by: 'ann', added_at: new Date() },
      },
    ]);
    const { items } = await fixture.app.access.ports.directory.ofOwner(fixture.cas, 5, undefined);
    casAgent = String(items[0]?.id);
    const asked = await as('cas the worker', 'inbox.ask', { question: secretOf('a question'), kind: 'text' });
    const request = String(asked['request_id']);
    await as('cas himself', 'inbox.answer', {
      request_id: request,
      answer: secretOf('an answer'),
      comment: secretOf('a comment'),
    });
    await as('cas the worker', 'inbox.ask', {
      question: secretOf('a choice'),
      kind: 'choice',
      options: [secretOf('an option'), 'no'],
    });
    await as('ann herself', 'access.update_workspace', {
      workspace: fixture.alpha,
      approvals: [{ tool: 'coding.create_task', asks: fixture.cas }],
    });
    await as('cas the worker', 'coordination.register_agent', { agent_id: casAgent, role: 'worker' });
    const orders = async (instructions: string) => {
      const order = { tool: 'CLAUDECODE', description: 'Add a test', instructions };
      return (await fixture.call('cas the worker', fixture.alpha, 'coding.create_task', order)).error?.reason;
    };
    // An instance applies a new approval rule within five seconds.
    const isAsked = async () => (await orders('Write it')) === 'WAITS_FOR_APPROVAL' || undefined;
    await eventually('calls wait for an approval', isAsked);
    assert.equal(await orders(secretOf('an argument')), 'WAITS_FOR_APPROVAL');
    await as('cas himself', 'coordination.message_agent', { agent_id: casAgent, message: secretOf('a message') });
    const onMessage = async () => {
      const beat = await as('cas the worker', 'coordination.heartbeat', { agent_id: casAgent });
      return heardIn(JSON.stringify(beat)).length > 0 || undefined;
    };
    await eventually('the agent gets its message', onMessage);
    const todo = await as('cas himself', 'todo.add_task', { title: secretOf('a to-do') });
    const todoId = String(Object(todo['task']).id);
    await as('cas himself', 'todo.create_recurring_task', {
      title: secretOf('a recurring to-do'),
      frequency: 'DAILY',
      start_date: '2099-02-11T17:00:00Z',
    });
    await as('cas himself', 'orchestration.save_workflow', {
      workflow: { name: secretOf('a workflow'), steps: [{ name: secretOf('a step'), agent: 'claude' }] },
    });
    const run = await startedRun();
    const audit = await as('cas himself', 'system.getAudit', { thing: `request:${request}` });
    const { events } = z.object({ events: z.array(z.object({ event_id: z.string() })) }).parse(audit);
    entry = events.at(-1)?.event_id ?? assert.fail('no audit entry concerns the question');
    ids = { ...things, owner: fixture.cas, agent: casAgent, todo: todoId, request, run };
    documents.push(`requests/${request}`, `mailboxes/${casAgent}`, `todos/${todoId}`, `trail/${entry}`);
    documents.push(`runs/${run}`);
  });
  after(() => fixture.end());

  /** Creates a run for Cas, and returns the run's id. The fixture never executes runs. */
  async function startedRun(): Promise<string> {
    const asked = { prompt: secretOf('a prompt'), options: { timeout: 0 } };
    await fixture.call('cas himself', fixture.alpha, 'orchestration.orchestrate', asked);
    const { runs } = await as('cas himself', 'orchestration.list_runs', {});
    return String(Object(runs)[0]?.runId);
  }

  async function assertHidden(tool: string, args: JsonObject): Promise<void> {
    // The calls are sequential, because one call can change what the next call reads.
    for (const caller of ASKING)
      for (const workspace of [fixture.alpha, 'default']) {
        const answer = JSON.stringify(await fixture.call(caller, workspace, tool, args));
        assert.deepEqual(heardIn(answer), [], `${tool} shows ${caller} ${answer}`);
      }
  }

  it('are shown to their owner, and to the agent to which they belong', async () => {
    const answers = await Promise.all([
      as('cas himself', 'inbox.list', { box: 'received' }),
      as('cas himself', 'inbox.list', { box: 'received', state: 'answered' }),
      as('cas himself', 'todo.list_tasks', {}),
      as('cas himself', 'todo.list_recurring_tasks', {}),
      as('cas himself', 'orchestration.list_workflows', { filter: 'all', detailed: true }),
      as('cas himself', 'orchestration.list_runs', {}),
      as('cas the worker', 'coordination.heartbeat', { agent_id: casAgent }),
    ]);
    assert.deepEqual(heardIn(JSON.stringify(answers)), [...texts.keys()]);
  });

  it('are missing in audit entries that leaders read; these show only that a question exists', async () => {
    for (const caller of ['bea the leader', 'bea herself', 'ann the leader'] as const) {
      const answer = JSON.stringify(await as(caller, 'system.getAudit', { of: 'workspace', limit: 100 }));
      assert.deepEqual(heardIn(answer), [], answer);
      const thing = `request:${ids.request}`;
      const about = JSON.stringify(await as(caller, 'system.getAudit', { of: 'workspace', thing }));
      assert.ok(about.includes(ids.request), about);
      assert.deepEqual(heardIn(about), [], about);
    }
  });

  it("are not revealed to other callers by undo, by system.getTree or by the agent's heartbeat", async () => {
    await assertHidden('system.undo', { event_id: entry });
    await assertHidden('coordination.heartbeat', { agent_id: casAgent, read_until: 'message-000000009' });
    await assertHidden('system.getTree', { kind: 'todo', id: ids.todo });
    const own = JSON.stringify(await as('cas the worker', 'coordination.heartbeat', { agent_id: casAgent }));
    assert.deepEqual(heardIn(own), ['a message'], "the agent's message is no longer unread");
  });

  it('are in no Firestore document that the security rules let others read', async () => {
    for (const path of documents) {
      for (const caller of ['bea herself', 'ann herself', 'nobody'] as const)
        assert.equal(await mayRead(fixture.credential(caller), 'firestore', path), false, `${caller}: ${path}`);
      const isOwn = ['requests/', 'runs/', 'todos/'].some((start) => path.startsWith(start));
      assert.equal(await mayRead(fixture.credential('cas himself'), 'firestore', path), isOwn, path);
    }
  });

  it('are in no Realtime Database list that the security rules let others read', async () => {
    for (const path of [`notifications/${fixture.cas}`, `task-updates/${fixture.cas}`]) {
      for (const caller of ['bea herself', 'ann herself', 'nobody'] as const)
        assert.equal(await mayRead(fixture.credential(caller), 'realtime', path), false, `${caller}: ${path}`);
      assert.equal(await mayRead(fixture.credential('cas himself'), 'realtime', path), true, path);
    }
  });

  it('are in no MCP resource that other callers read', async () => {
    for (const uri of Object.values(RESOURCES))
      for (const caller of ASKING) {
        const answer = await fixture.mcp(caller, fixture.alpha, 'resources/read', { uri: uri(ids) });
        assert.deepEqual(heardIn(answer), [], `a resource shows ${caller} ${answer}`);
      }
  });

  for (const [toolset, tools] of CALLABLE_BY_TOOLSET)
    it(`are in no response that other callers get from a tool of ${toolset}`, async () => {
      for (const tool of tools) await assertHidden(tool, TOOLS[tool]?.(ids) ?? {});
    });
});
