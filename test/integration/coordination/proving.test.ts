/** Results that must be proven before their task is done. Source: docs/guides/proof.md. */
import assert from 'node:assert/strict';
import { call } from './calls.ts';
import { ProvingFixture } from './provingFixture.ts';

describe('a result that must be proven', () => {
  let team: ProvingFixture;

  beforeEach(async () => {
    team = new ProvingFixture();
    await team.open();
  });

  const statusOf = async (id: string) => (await team.task(id)).status;

  it('is verified by another agent, and only then frees its dependents', async () => {
    const id = await team.creates({ review: 'any' });
    const next = await team.creates(undefined, { dependencies: [id] });
    const handed = await team.handsIn(id);
    assert.match(String(handed['message']), /not done yet\. Waits for another agent to review it \(any\)/);
    assert.deepEqual([await statusOf(id), (await team.task(next)).blockers], ['waiting', 1]);
    const status = Object(await team.does('ada', 'get_status', {}));
    assert.deepEqual([status.verifying.count, status.verifying.tasks[0].id, status.tasks.done], [1, id, 0]);
    const judged = Object((await team.reviews('approve'))['reviewed']);
    assert.deepEqual([judged.status, judged.message], ['done', `${id} is done.`]);
    const { status: now, proven, claim } = await team.task(id);
    assert.deepEqual([now, proven.map(({ step, by }) => [step, by])], ['done', [['review', team.name('reviewer')]]]);
    assert.equal(claim?.claimed_by, team.name('author'));
    assert.equal((await team.task(next)).blockers, 0);
    const author = await team.app.access.ports.agents.find(team.name('author'));
    assert.deepEqual([author?.value.tasks_completed, author?.value.held], [1, {}]);
  });

  it('is never reviewed by its author, or with the credential of its author', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const { reason, explanation } = await team.claims('author');
    assert.deepEqual([reason, /review of work that you/.test(String(explanation))], ['own_work', true]);
    const terminal = Object(await team.does('author', 'register_agent', { agent_id: 'second', role: 'worker' })).agent;
    const claimed = await team.does('author', 'claim_task', { agent_id: terminal.id });
    assert.equal(claimed['reason'], 'own_work');
    const check = await team.checkOf(id);
    await team.claims('reviewer');
    const verdict = { task_id: check.id, agent_id: team.name('reviewer'), output: 'Fine', verdict: 'approve' };
    assert.match(await team.cannot('author', 'complete_task', verdict), /you or your credential did the work/);
    assert.equal(await statusOf(id), 'waiting');
    await team.completes('reviewer', check.id, 'Fine', { verdict: 'approve' });
    assert.equal(await statusOf(id), 'done');
  });

  it('may be reviewed by another terminal of the credential if the workspace allows it', async () => {
    await team.ask(team.who('ada'), 'update_workspace', { proof: { defaults: [{ review: 'any' }], terminals: true } });
    const id = await team.creates(undefined);
    await team.handsIn(id);
    const second = Object(await team.does('author', 'register_agent', { agent_id: 'second', role: 'worker' })).agent.id;
    const claimed = Object(await team.does('author', 'claim_task', { agent_id: second, start: true })).task;
    const verdict = { agent_id: second, task_id: claimed.id, output: 'Fine', verdict: 'approve' };
    await team.does('author', 'complete_task', verdict);
    assert.equal(await statusOf(id), 'done');
  });

  it('goes back to its author with comments, who must change something', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const judged = Object((await team.reviews('request_changes', 'Handle empty input'))['reviewed']);
    assert.match(judged.message, /is back with/);
    const { status, claim, claim_epoch, rounds } = await team.task(id);
    assert.deepEqual([status, claim?.claimed_by, claim_epoch, rounds], ['claimed', team.name('author'), 2, 1]);
    const again = await team.claims('author');
    assert.equal(again['resumed'], true);
    assert.equal(Object(again['task']).sent_back[0].comments, 'Handle empty input');
    assert.match(JSON.stringify(again['messages']), /was sent back/);
    const same = await team.completes('author', id, 'Wrote it');
    assert.match(String(same['message']), /Say in output what you have changed/);
    assert.equal(await statusOf(id), 'in_progress');
    await team.completes('author', id, 'Wrote it, and empty input returns nothing');
    await team.reviews('approve');
    assert.equal(await statusOf(id), 'done');
  });

  it('repeats the answer to a repeated hand-in and to a repeated verdict', async () => {
    const id = await team.creates({ review: 'any' });
    const handed = await team.handsIn(id);
    assert.deepEqual(await team.completes('author', id, 'Wrote it'), handed);
    const check = await team.checkOf(id);
    const judged = await team.reviews('approve', 'Good');
    assert.deepEqual(await team.completes('reviewer', check.id, 'Good', { verdict: 'approve' }), judged);
    const other = { agent_id: team.name('reviewer'), task_id: check.id, output: 'Good', verdict: 'request_changes' };
    assert.match(await team.cannot('reviewer', 'complete_task', other), /cannot be completed/);
  });

  it('is decided by a person after the same correction twice', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    await team.reviews('request_changes', 'Line 12: handle empty input!');
    await team.claims('author');
    await team.completes('author', id, 'Now it is handled');
    await team.reviews('request_changes', 'line 15: Handle empty input');
    const { sent_back, proof } = await team.task(id);
    assert.deepEqual([proof?.step, sent_back.map(({ times }) => times)], ['person', [2]]);
    const question = await team.questionOf(id);
    assert.equal(question.asked_of, team.who('ada').uid);
    assert.match(question.question, /sent back 2 times.*handle empty input/i);
    await team.answers('ada', id, 'approve');
    assert.equal(await statusOf(id), 'done');
    assert.equal((await team.task(id)).proven.at(-1)?.step, 'person');
  });

  it('is decided by a person when its rounds are used up, who can send it back or give it up', async () => {
    const id = await team.creates({ review: 'any' });
    for (const [round, word] of ['first', 'second', 'third'].entries()) {
      await team.claims('author');
      await team.completes('author', id, `Attempt ${round} of the ${word} kind`);
      await team.reviews('request_changes', `The ${word} fault`);
    }
    const question = await team.questionOf(id);
    const without = { request_id: question.id, answer: 'request changes' };
    const refused = await call(team, 'inbox_answer', without, team.who('ada'));
    assert.equal(refused.isError, true);
    await team.answers('ada', id, 'request changes', 'Use the other algorithm');
    assert.deepEqual([await statusOf(id), (await team.task(id)).rounds], ['claimed', 4]);
    await team.claims('author');
    await team.completes('author', id, 'Used it');
    await team.reviews('request_changes', 'Still wrong');
    await team.answers('ada', id, 'give up');
    const { status, error } = await team.task(id);
    assert.equal(status, 'failed');
    assert.match(String(error), /Sent back 5 times; .* gave it up\. Last: Still wrong/);
  });

  it('waits for the person that its acceptance names, who may not be its author', async () => {
    const id = await team.creates({ confirm: team.email('ben') });
    await team.handsIn(id);
    const question = await team.questionOf(id);
    assert.equal(question.asked_of, team.who('ben').uid);
    const [task] = Object(await team.does('ada', 'get_all_tasks', {})).tasks;
    assert.match(task.verifying.waits, /Waits for ben of .* to confirm it/);
    await team.answers('ben', id, 'approve');
    assert.equal(await statusOf(id), 'done');
  });

  it('needs a branch if a command must succeed there, and takes the steps in order', async () => {
    const id = await team.creates({ command: 'npm test', review: 'any', confirm: 'owner' });
    await team.claims('author');
    const report = { agent_id: team.name('author'), task_id: id, output: 'Wrote it' };
    assert.match(await team.cannot('author', 'complete_task', report), /succeeds on its branch/);
    await team.completes('author', id, 'Wrote it', { branch: 'feature/parser' });
    const run = await team.checkOf(id);
    assert.deepEqual([run.coding?.command, run.coding?.branch], ['npm test', 'feature/parser']);
    assert.deepEqual(run.required_capabilities, ['muster:command']);
  });

  it('fails or is decided by a person if no check brings a verdict in time', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const check = await team.checkOf(id);
    team.pass(24 * 3600);
    await team.sweepProofs();
    assert.deepEqual([await statusOf(check.id), (await team.task(id)).proof?.step], ['cancelled', 'person']);
    team.pass(7 * 24 * 3600);
    await team.sweepProofs();
    const { status, error } = await team.task(id);
    assert.deepEqual([status, error], ['failed', 'No one has confirmed it in 7 days.']);
  });

  it('is asked about again if its check is cancelled, and its check ends with it', async () => {
    const [one, two] = [await team.creates({ review: 'any' }), await team.creates({ review: 'any' })];
    await team.handsIn(one);
    await team.handsIn(two);
    const [first, second] = [await team.checkOf(one), await team.checkOf(two)];
    await team.does('ada', 'cancel_task', { task_id: first.id });
    await team.app.services.settleTask(first.id, { status: 'cancelled', reviews: { task_id: one } });
    assert.equal((await team.task(one)).proof?.step, 'person');
    await team.does('ada', 'cancel_task', { task_id: two });
    assert.deepEqual([await statusOf(two), await statusOf(second.id)], ['cancelled', 'cancelled']);
    const question = await team.questionOf(one);
    await team.does('ada', 'cancel_task', { task_id: one });
    assert.equal((await team.app.inbox.ports.requests.find(question.id))?.value.state, 'withdrawn');
  });

  it('can be sent back after it is done, until a dependent has begun', async () => {
    const id = await team.creates(undefined);
    const next = await team.creates(undefined, { dependencies: [id] });
    await team.handsIn(id);
    assert.equal(await statusOf(id), 'done');
    await team.does('ada', 'retry_task', { task_id: id, comments: 'Rename it' });
    const { status, claim, sent_back } = await team.task(id);
    assert.deepEqual(
      [status, claim?.claimed_by, sent_back[0]?.comments],
      ['claimed', team.name('author'), 'Rename it'],
    );
    assert.equal((await team.task(next)).blockers, 1);
    await team.claims('author');
    await team.completes('author', id, 'Renamed');
    await team.claims('reviewer');
    const refused = await team.cannot('ada', 'retry_task', { task_id: id, comments: 'Once more' });
    assert.match(refused, new RegExp(`its dependent "${next}" is in_progress`));
  });

  it('can be taken as it is by a person, but not by its author', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const check = await team.checkOf(id);
    assert.match(await team.cannot('author', 'update_task', { task_id: id, clear: ['acceptance'] }), /did the work/);
    await team.does('ben', 'update_task', { task_id: id, clear: ['acceptance'] });
    const { status, proven } = await team.task(id);
    assert.deepEqual([status, proven[0]?.step, await statusOf(check.id)], ['done', 'waived', 'cancelled']);
  });

  it('is required by the workspace for new tasks, unless a leader says otherwise', async () => {
    await team.ask(team.who('ada'), 'update_workspace', { proof: { defaults: [{ review: 'any' }] } });
    const [plain, free] = [await team.creates(undefined), await team.creates({})];
    assert.equal((await team.task(plain)).acceptance?.review, 'any');
    assert.equal((await team.task(free)).acceptance, undefined);
  });
});

describe('undo of hand-ins and verdicts', () => {
  let team: ProvingFixture;

  beforeEach(async () => {
    team = new ProvingFixture();
    await team.open();
  });

  const eventOf = async (tool: string): Promise<string> => {
    const { structuredContent } = await call(team, 'system_getAudit', { of: 'workspace', limit: 20 }, team.who('ada'));
    const events: readonly { readonly tool: string; readonly event_id: string }[] = Object(structuredContent).events;
    return events.find((event) => event.tool === `coordination.${tool}`)?.event_id ?? assert.fail(tool);
  };

  const undo = async (tool: string) => {
    const event_id = await eventOf(tool);
    team.pass(1);
    const { structuredContent, isError } = await call(team, 'system_undo', { event_id }, team.who('ada'));
    const { error, refused = [] } = Object(structuredContent);
    return { isError: isError === true, text: JSON.stringify(error ?? refused) };
  };

  it('gives a handed-in task back to its author, unless its review has begun', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const check = await team.checkOf(id);
    const { isError, text } = await undo('complete_task');
    assert.deepEqual([isError, text], [false, '[]']);
    const { status, claim, proof } = await team.task(id);
    assert.deepEqual([status, claim?.claimed_by, proof], ['in_progress', team.name('author'), undefined]);
    assert.equal((await team.task(check.id)).status, 'cancelled');
    await team.completes('author', id, 'Wrote it again');
    await team.claims('reviewer');
    const refused = await undo('complete_task');
    assert.match(refused.text, new RegExp(team.name('reviewer')));
    assert.equal((await team.task(id)).status, 'waiting');
  });

  it('verifies again by a new check if an approval or a correction is undone', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const first = await team.checkOf(id);
    await team.reviews('approve');
    const { text } = await undo('complete_task');
    assert.match(text, /A verdict goes with the task/);
    const second = await team.checkOf(id);
    assert.notEqual(second.id, first.id);
    assert.deepEqual([(await team.task(id)).status, second.status], ['waiting', 'available']);
    await team.reviews('request_changes', 'Rename it');
    assert.equal((await team.task(id)).status, 'claimed');
    await undo('complete_task');
    assert.equal((await team.task(id)).status, 'waiting');
    const author = await team.app.access.ports.agents.find(team.name('author'));
    assert.deepEqual(author?.value.held, {});
  });

  it('withdraws the question about a result whose hand-in is undone', async () => {
    const id = await team.creates({ confirm: 'owner' });
    await team.handsIn(id);
    const question = await team.questionOf(id);
    const { isError, text } = await undo('complete_task');
    assert.deepEqual([isError, text], [false, '[]']);
    assert.equal((await team.app.inbox.ports.requests.find(question.id))?.value.state, 'withdrawn');
    assert.equal((await team.task(id)).status, 'in_progress');
  });
});
