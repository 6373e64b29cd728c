/** GitHub webhook: merged pull requests complete tasks, and failed checks are recorded on tasks. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import { GitHubWebhook, type Reply } from '../../../functions/src/vendors/octokit/webhook.ts';
import {
  type About,
  checkRun,
  checkSuite,
  type Payload,
  pullRequest,
  startedCheckRun,
  workflowRun,
} from '../../support/github/payloads.ts';
import { silent } from '../coordination/team.ts';
import { AT, GitHubFixture } from './fixture.ts';

const SECRET = "It's a Secret to Everybody";
const PR = { ...AT, title: 'End retries', head: 'fix/retries', base: 'main' };
const COMMIT = 'c'.repeat(40);

describe('GitHub webhook deliveries', () => {
  let fixture: GitHubFixture;
  let webhook: GitHubWebhook;
  let ann: string;

  beforeEach(async () => {
    fixture = await GitHubFixture.open();
    const ports = { ...fixture.team.app.gitHub.ports, log: silent };
    const deliveries = new Deliveries(ports);
    webhook = new GitHubWebhook({ secret: () => SECRET, deliveries });
    ann = await fixture.team.join('ann');
  });

  afterEach(() => fixture.close());

  function deliver(event: string, payload: object | string, more: object = {}): Promise<Reply> {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const signature = `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`;
    const headers = { 'x-github-event': event, 'x-hub-signature-256': signature, ...more };
    return webhook.receive({ method: 'POST', headers, body: async () => Buffer.from(text) });
  }

  const about = (pull: number, repository = fixture.repo.id): About => ({ repository, pull, head: COMMIT });

  const send = ({ event, payload }: Payload): Promise<Reply> => deliver(event, payload);

  const merged = (number: number, repository?: number) =>
    pullRequest(about(number, repository), 'closed', { merged: true, commit: COMMIT });

  const RUN_URL = 'https://github.com/sartor-ai/claude-network/actions/runs/4000000001';

  const failedRun = (number: number, attempt = 1) =>
    workflowRun(about(number), { id: 4000000001, url: RUN_URL, attempt });

  /** Creates a task that ann holds, with a linked pull request. */
  async function taskInReview(): Promise<{ id: string; number: number }> {
    const { id } = await fixture.team.createOne({ priority: 1 });
    assert.equal(await fixture.team.claim(ann), id);
    return { id, number: await open(id) };
  }

  async function open(taskId: string): Promise<number> {
    const { number } = await fixture.answer('createPR', { ...PR, task_id: taskId });
    return Number(number);
  }

  async function logs(taskId: string) {
    const { docs } = await firestore()
      .collection(`${taskPath(taskId)}/logs`)
      .get();
    return docs.map((document) => ({ id: document.id, ...document.data() }));
  }

  it("complete the task of a merged pull request in the name of the task's holder", async () => {
    const { id, number } = await taskInReview();
    assert.equal((await send(merged(number))).status, 202);
    const task = await fixture.team.task(id);
    assert.deepEqual([task.status, task.claim?.claimed_by], ['done', ann]);
    const output = `Pull request sartor-ai/claude-network#${number} was merged as ${COMMIT}.`;
    assert.deepEqual(task.result, { output });
    const agent = (await fixture.team.app.access.ports.agents.find(ann))?.value;
    assert.deepEqual([agent?.held, agent?.tasks_completed], [{}, 1]);
    assert.deepEqual(await fixture.team.counts(), { done: 1 });
  });

  it('complete a task once, despite repeated and late deliveries', async () => {
    const { id, number } = await taskInReview();
    await Promise.all([1, 2, 3].map(() => send(merged(number))));
    const task = await fixture.team.task(id);
    fixture.team.pass(100);
    await send(merged(number));
    assert.deepEqual(await fixture.team.task(id), task);
    assert.deepEqual(await fixture.team.counts(), { done: 1 });
    assert.equal((await fixture.team.app.access.ports.agents.find(ann))?.value.tasks_completed, 1);
  });

  it('complete a task without a holder, and unblock its dependent', async () => {
    const [first, second] = await fixture.team.create({}, { dependencies: ['task-1'] });
    assert.ok(first && second);
    await send(merged(await open(first.id)));
    const task = await fixture.team.task(first.id);
    assert.deepEqual([task.status, task.claim], ['done', undefined]);
    assert.deepEqual(await fixture.team.counts(), { done: 1, available: 1 });
    assert.equal(await fixture.team.claim(ann), second.id);
  });

  it('complete a task in the name of its last holder after the lease has expired', async () => {
    const { id, number } = await taskInReview();
    fixture.team.pass(1801);
    await fixture.team.sweep();
    assert.equal((await fixture.team.task(id)).status, 'available');
    await send(merged(number));
    const task = await fixture.team.task(id);
    assert.deepEqual([task.status, task.claim?.claimed_by], ['done', ann]);
    assert.equal((await fixture.team.app.access.ports.agents.find(ann))?.value.tasks_completed, 1);
  });

  it('do not change a failed task', async () => {
    const { id, number } = await taskInReview();
    await fixture.team.fail(ann, id);
    const before = await fixture.team.task(id);
    assert.equal((await send(merged(number))).status, 202);
    assert.deepEqual(await fixture.team.task(id), before);
  });

  it('do not change the task of a closed or unknown pull request', async () => {
    const { id, number } = await taskInReview();
    const closed = pullRequest(about(number), 'closed');
    assert.equal((await send(closed)).status, 202);
    const forged = pullRequest(about(99), 'closed', { merged: true, commit: COMMIT, body: `Muster-Task: ${id}` });
    assert.equal((await send(forged)).status, 202);
    assert.equal((await send(merged(number, 1))).status, 202);
    assert.equal((await fixture.team.task(id)).status, 'claimed');
  });

  it('record each failed check on the task, but only once', async () => {
    const { id, number } = await taskInReview();
    for (let time = 0; time < 3; time++) assert.equal((await send(failedRun(number))).status, 202);
    const [entry, ...others] = await logs(id);
    assert.deepEqual(others, []);
    const { at: _, ...rest } = Object(entry);
    assert.deepEqual(rest, {
      id: 'workflow_run-4000000001-1',
      kind: 'check_failed',
      source: 'workflow_run',
      name: 'ci',
      conclusion: 'failure',
      commit: COMMIT,
      pull_request: number,
      repository: 'sartor-ai/claude-network',
      url: 'https://github.com/sartor-ai/claude-network/actions/runs/4000000001',
      run_id: 4000000001,
      workspace: fixture.team.workspace,
    });
    await send(failedRun(number, 2));
    assert.equal((await logs(id)).length, 2);
    assert.equal((await fixture.team.task(id)).status, 'claimed');
  });

  it('record failed check runs and check suites, but ignore successful ones', async () => {
    const { id, number } = await taskInReview();
    const url = 'javascript:alert(1)';
    await send(checkRun(about(number), { name: 'lint \u001b[31m', url }));
    await send(checkSuite(about(number), { conclusion: 'timed_out' }));
    const passed = checkRun(about(number), { id: 2, conclusion: 'success' });
    assert.equal((await send(passed)).status, 202);
    assert.equal((await send(startedCheckRun(about(number)))).status, 204);
    const noted = (await logs(id)).map((entry) => [entry.id, Object(entry).name, Object(entry).url]);
    assert.deepEqual(noted, [
      ['check_run-1', 'lint [31m', undefined],
      ['check_suite-1', 'checks', undefined],
    ]);
  });

  it('have equal results in any order, even if they are concurrent or repeated', async () => {
    const { id, number } = await taskInReview();
    const at = (minute: number) => new Date(Date.parse('2026-11-27T12:00:00Z') + 60_000 * minute);
    const next = { ...about(number), head: 'd'.repeat(40) };
    const deliveries = [
      checkRun(about(number), { name: 'test', at: at(1), id: 1 }),
      checkRun(next, { name: 'test', conclusion: 'success', at: at(3), id: 3 }),
      pullRequest(next, 'synchronize', { at: at(2) }),
      checkRun(next, { name: 'test', commit: COMMIT, at: at(4), id: 4 }),
      workflowRun(next, { name: 'ci', at: at(3) }),
      workflowRun(next, { name: 'ci', conclusion: 'success', at: at(5), attempt: 2 }),
      checkSuite(next, { name: 'suite', at: at(4) }),
    ];
    for (const order of [deliveries, deliveries.toReversed(), [...deliveries, ...deliveries]]) {
      const replies = await Promise.all(order.map(send));
      assert.ok(replies.every(({ status }) => status === 202));
      const { failed_check: failedCheck } = await fixture.team.task(id);
      const { name, at: failedAt, repository, pull_request: of } = failedCheck ?? {};
      const expected = ['suite', at(4), 'sartor-ai/claude-network', number];
      assert.deepEqual([name, failedAt, repository, of], expected);
    }
    assert.equal((await logs(id)).length, 4, 'the log contains each failure once');
  });

  it("are rejected without GitHub's signature", async () => {
    const { id, number } = await taskInReview();
    const signature = (text: string) => ({ 'x-hub-signature-256': text });
    for (const more of [
      signature('sha256=0000'),
      signature(`sha1=${'0'.repeat(40)}`),
      signature(''),
      { 'x-hub-signature-256': undefined },
      signature(`sha256=${createHmac('sha256', 'another').update('{}').digest('hex')}`),
    ]) {
      const { event, payload } = merged(number);
      assert.equal((await deliver(event, payload, more)).status, 401);
    }
    assert.equal((await fixture.team.task(id)).status, 'claimed');
    const unset = new GitHubWebhook({
      secret: () => undefined,
      deliveries: { receive: () => Promise.reject(new Error('no')) },
    });
    const received = { method: 'POST', headers: {}, body: async () => Buffer.from('{}') };
    assert.equal((await unset.receive(received)).status, 503);
    assert.equal((await webhook.receive({ ...received, method: 'GET' })).status, 405);
  });

  it('are ignored if Muster does not use their event, and rejected if malformed', async () => {
    assert.equal((await deliver('ping', { zen: 'Design for failure.' })).status, 204);
    assert.equal((await deliver('star', 'not even JSON')).status, 204);
    for (const payload of ['{', 'null', '[]', '{"action":"closed"}', 'payload=%7B%7D', '{"__proto__":{}}'])
      for (const event of ['pull_request', 'check_run', 'check_suite', 'workflow_run'])
        assert.equal((await deliver(event, payload)).status, 400, `${event} ${payload}`);
    assert.equal((await deliver('pull_request', '')).status, 401);
  });
});

describe('a pull request linked to a task', () => {
  let fixture: GitHubFixture;
  let ann: string;

  beforeEach(async () => {
    fixture = await GitHubFixture.open();
    ann = await fixture.team.join('ann');
  });

  afterEach(() => fixture.close());

  it('names the task in its description', async () => {
    const { id } = await fixture.team.createOne();
    await fixture.answer('createPR', { ...PR, body: 'Why', task_id: id });
    assert.equal(fixture.repo.pulls[0]?.body, `Why\n\nMuster-Task: ${id}`);
  });

  it("can be linked to one open task of the workspace, by the task's holder or a leader", async () => {
    const [{ id }, other] = [await fixture.team.createOne({ priority: 1 }), await fixture.team.createOne()];
    await fixture.team.claim(ann);
    const given = { ...PR, task_id: id };
    const bob = await fixture.refusal('createPR', given, fixture.team.principal('bob'));
    assert.deepEqual([bob.code, bob.data['reason']], [-32101, 'NOT_HOLDER']);
    assert.equal((await fixture.refusal('createPR', { ...PR, task_id: 'none' })).code, -32200);
    assert.equal(fixture.repo.pulls.length, 0);
    assert.equal((await fixture.answer('createPR', given))['created'], true);
    assert.equal((await fixture.answer('createPR', given, fixture.team.leader))['created'], false);
    const elsewhere = await fixture.refusal('createPR', { ...PR, task_id: other.id });
    assert.equal(elsewhere.data['reason'], 'LINKED_TO_ANOTHER_TASK');
    await fixture.team.complete(ann, id);
    assert.equal((await fixture.refusal('createPR', given)).data['reason'], 'WRONG_STATE');
  });
});
