/** Results that must be proven in the console, and the actions of people on them. */
import assert from 'node:assert/strict';
import { VERIFYING } from '../samples.ts';
import { Backend, Refused } from './backend.ts';
import { NOW } from './clock.ts';
import { Page } from './page.ts';

const HOUR = 3_600_000;
const fromNow = (milliseconds: number): Date => new Date(NOW.getTime() + milliseconds);

/** A task that "worker-1" handed in an hour ago, and that another agent reviews. */
const HANDED_IN = {
  ...VERIFYING,
  description: 'Draw the plan',
  claimed_by: null,
  proof: { ...VERIFYING.proof, agent_id: 'worker-1', since: fromNow(-HOUR), round: 2 },
  proof_until: fromNow(23 * HOUR),
};

const correction = {
  round: 1,
  at: fromNow(-2 * HOUR),
  by: 'worker-2',
  step: 'review',
  comments: 'Line 3 <b>divides</b> by zero.\nAdd a test.',
  digest: 'd1',
  times: 2,
  agent_id: 'worker-1',
  claim_epoch: 1,
};

describe('proof in the console', () => {
  let backend: Backend;

  beforeEach(() => {
    backend = new Backend();
    for (const number of [1, 2]) backend.put(`agents/worker-${number}`, { name: `Worker ${number}` });
  });

  /** Gives the person a lower role while the page is open. */
  function demote(role: string): void {
    const workspaces = [{ workspace: 'default', role }];
    backend.tools['access.whoami'] = () => ({ workspaces, truncated: false, accepted: [] });
    backend.put('people/ada', { role });
  }

  it('shows each step, the agent that does the current check, and corrections as plain text', async () => {
    backend.put('tasks/task-1', { ...HANDED_IN, sent_back: [correction] });
    backend.put('tasks/task-9', { description: 'Review of Draw the plan', claimed_by: 'worker-2' });
    const page = await Page.open(backend, '/t/task-1');
    await page.shows('Worker 1 handed it in 1 h ago. Waits for another agent to review it, for up to 23 h.');
    const proof = await page.get('region', 'Proof');
    await proof.shows(/^ProofRound 2 of 3/);
    await proof.get('listitem', /^npm test succeedsPassed by Muster.*abcdef12$/);
    await proof.get(
      'listitem',
      /Another agent approves it.*for up to 23 h\.abcdef12Review of Draw the plan claimed by Worker 2$/,
    );
    await proof.get('listitem', /^Sent back in round 1Worker 2Review2 h agoThe same again, 2 times/);
    await proof.shows('Line 3 <b>divides</b> by zero.\nAdd a test.');
    const step = { step: 'review', by: 'worker-2', at: NOW };
    backend.put('tasks/task-1', { status: 'done', proof: null, proven: [...HANDED_IN.proof.passed, step] });
    await proof.get('listitem', /^Another agent approves itPassed by Worker 2just now$/);
    await page.get('button', 'More actions');
    await page.lacks('button', 'Send it back');
  });

  it('links a review to its task, and shows a step that was skipped as not checked', async () => {
    const reviews = { task_id: 'task-1', round: 1, not_by: [], terminals: false };
    backend.put('tasks/task-9', { description: 'Review', reviews });
    const proven = [{ step: 'waived', by: 'ada', at: NOW }];
    backend.put('tasks/task-1', { ...HANDED_IN, status: 'done', proof: null, proven, completed_at: NOW });
    const page = await Page.open(backend, '/t/task-9');
    (await page.get('link', 'Draw the plan')).element.click();
    const proof = await page.get('region', 'Proof');
    await proof.get('listitem', 'Another agent approves itNot checked');
    await proof.get('listitem', /^Accepted as isPassed by You/);
  });

  it('is absent for a task without requirements', async () => {
    backend.put('tasks/task-1', { description: 'Draw' });
    const page = await Page.open(backend, '/t/task-1');
    await page.shows('Ready for any agent.');
    assert.equal(page.all('region', 'Proof').length, 0);
  });

  it('is a column of the board, a group of the table with the step, and a part of the progress', async () => {
    backend.put('workspaces/default/sessions/session-1/counters/0', { counts: { waiting: 1, done: 1 } });
    backend.put('tasks/task-1', HANDED_IN);
    const page = await Page.open(backend, '/tasks?view=board');
    await (await page.get('region', 'Verifying')).shows(/^Verifying1Draw the planReview, round 2 of 3.*Worker 1/);
    page.follow('/tasks');
    await page.get('row', 'Verifying1');
    await page.get('row', /^Draw the plan ?Review, round 2 of 3.*Worker 1/);
    page.follow('/tasks?sort=status&q=verifying');
    await page.get('row', /^Draw the plan ?Verifying Review, round 2 of 3/);
    page.follow('/');
    await (await page.get('region', 'Goal')).shows('1 being verified or waiting');
  });

  it('is sent back only with words, while it is verified and when it is done', async () => {
    backend.put('tasks/task-1', HANDED_IN);
    const page = await Page.open(backend, '/t/task-1');
    await page.press('Send it back');
    const dialog = await page.get('dialog', 'Send back “Draw the plan”?');
    const send = await dialog.get('button', 'Send it back');
    assert.equal(send.isDisabled, true);
    const words = await dialog.field('What must change');
    words.type('  ');
    assert.equal(send.isDisabled, true);
    words.type(' Use the new colors. ');
    backend.tools['coordination.retry_task'] = () => {
      throw new Refused('Its dependent "task-2" has started.');
    };
    await dialog.press('Send it back');
    await (await page.get('alert')).shows('Its dependent "task-2" has started.');
    backend.put('tasks/task-1', { status: 'done', proof: null });
    await page.lacks('button', 'Send it back');
    await page.choose('More actions', 'Send it back…');
    const again = await page.get('dialog', 'Send back “Draw the plan”?');
    (await again.field('What must change')).type('Use no colors.');
    await again.press('Send it back');
    await page.waitFor('two calls', () => backend.changes.length === 2);
    assert.deepEqual(backend.called('coordination.retry_task'), [
      { task_id: 'task-1', comments: 'Use the new colors.' },
      { task_id: 'task-1', comments: 'Use no colors.' },
    ]);
  });

  it('is waived after a confirmation, and not by a viewer', async () => {
    backend.put('tasks/task-1', HANDED_IN);
    const page = await Page.open(backend, '/t/task-1');
    await page.choose('More actions', 'Accept as is…');
    const dialog = await page.get('dialog', 'Accept “Draw the plan” as is?');
    await dialog.shows('The checks that are left are skipped, and the task is done.');
    assert.deepEqual(backend.changes, []);
    await dialog.press('Accept as is');
    await page.waitFor('the call', () => backend.changes.length === 1);
    assert.deepEqual(backend.called('coordination.update_task'), [{ task_id: 'task-1', clear: ['acceptance'] }]);
    demote('viewer');
    await page.lacks('button', 'Send it back');
    await page.press('More actions');
    await page.lacks('button', 'Accept as is…');
  });

  it('asks a person with result and last correction, and takes a correction only with words', async () => {
    const until = fromNow(7 * 24 * HOUR);
    const waiting_for = { request_id: 'proof', who: 'Ada Lovelace', until };
    const proof = { ...HANDED_IN.proof, step: 'person', check: 'proof' };
    backend.put('tasks/task-1', { ...HANDED_IN, proof, waiting_for, sent_back: [correction] });
    const proves = { task_id: 'task-1', round: 2, not_by: ['worker-1'] };
    const options = ['approve', 'request changes', 'give up'];
    const asked = { kind: 'choice', options, question: 'Is the plan right?', task_id: 'task-1', proves };
    backend.put('requests/proof', { ...asked, asked_by: 'ada', asked_by_agent: null, expires_at: until });
    backend.tools['inbox.answer'] = ({ answer }) =>
      backend.put('requests/proof', { state: 'answered', answer, settled_at: NOW });
    const page = await Page.open(backend, '/t/task-1');
    (await page.get('link', 'Decide now')).element.click();
    const question = await page.get('article', /^The result of a task needs your decision.*Is the plan right\?/);
    await question.shows('Needed for Draw the plan');
    await question.get('listitem', 'ResultIt is done.');
    await question.get('listitem', /^Sent back in round 1.*divides/);
    const request = await question.get('button', 'Request changes');
    assert.equal(request.isDisabled, true);
    await question.press('Give up');
    await (await page.get('dialog', 'Give up on this task?')).press('Keep task');
    await page.lacks('dialog');
    assert.deepEqual(backend.changes, []);
    (await question.field('Comment')).type(' Add a legend. ');
    await question.press('Request changes');
    await question.shows('Answered “request changes”');
    assert.equal(question.all('button', 'Change answer').length, 0);
    assert.deepEqual(backend.called('inbox.answer'), [
      { request_id: 'proof', answer: 'request changes', comment: 'Add a legend.' },
    ]);
  });

  it('waits for the person if there has been no verdict for 12 hours', async () => {
    const proof = (hours: number) => ({ ...HANDED_IN.proof, since: fromNow(-hours * HOUR) });
    backend.put('tasks/task-1', { ...HANDED_IN, proof: proof(13) });
    backend.put('tasks/task-2', { ...HANDED_IN, description: 'Recent', proof: proof(11) });
    const page = await Page.open(backend);
    const waiting = await page.get('region', 'Waiting for you');
    await waiting.get('article', /Draw the plan.*It has been verified for more than 12 hours without a verdict\./);
    assert.equal(waiting.all('article', /Recent/).length, 0);
  });

  it('is required of new tasks by leaders, who can change each part of the settings', async () => {
    const save = ({ proof }: Readonly<Record<string, unknown>>) => backend.put('workspaces/default', { proof });
    backend.tools['access.update_workspace'] = save;
    const page = await Page.open(backend, '/access');
    const settings = await page.get('region', 'Proof');
    await settings.shows('Tasks are done as soon as their agents say so.');
    await settings.shows(
      '3 rounds · 24 hours for each check, then a person is asked · waits up to 10 minutes for files',
    );
    await settings.press('Add requirement');
    let dialog = await page.get('dialog', 'Add requirement');
    assert.equal((await dialog.get('button', 'Add')).isDisabled, true);
    (await dialog.field('Command that must succeed')).type(' npm test ');
    (await dialog.field('Review by')).type('any');
    (await dialog.field('Confirmation by')).select('owner');
    (await dialog.field('Type of the tasks')).type('coding');
    await dialog.press('Add');
    await settings.get(
      'listitem',
      /^Tasks of type coding.?npm test succeeds, another agent approves, the owner confirms/,
    );
    await settings.press('Change limits');
    dialog = await page.get('dialog', 'Change limits');
    (await dialog.field('Rounds')).type('11');
    await page.waitFor('no change', () => dialog.all('button', 'Change limits')[0]?.isDisabled);
    (await dialog.field('Rounds')).type('2');
    (await dialog.field('If a check brings no verdict')).select('fail');
    (await dialog.field('Terminals')).element.click();
    await dialog.press('Change limits');
    await settings.shows('2 rounds · 24 hours for each check, then the task fails');
    const defaults = [{ command: 'npm test', review: 'any', confirm: 'owner', type: 'coding' }];
    assert.deepEqual(backend.document('workspaces/default')?.['proof'], {
      defaults,
      rounds: 2,
      hours: 24,
      otherwise: 'fail',
      terminals: true,
      file_wait_minutes: 10,
    });
    await settings.press('Remove');
    await settings.shows('Tasks are done as soon as their agents say so.');
    demote('worker');
    await settings.lacks('button');
  });

  for (const [choice, doer, acceptance] of [
    ['own', 'agent', { command: 'npm test' }],
    ['none', 'CODEX', {}],
  ] as const)
    it(`is required of a new task, or not, as its creator wants (${choice}, ${doer})`, async () => {
      backend.tools['coordination.create_task'] = () => ({ task: { id: 'task-1' } });
      backend.tools['coding.create_task'] = () => ({ data: { taskId: 'task-1' } });
      const page = await Page.open(backend, '/tasks');
      await page.press('New task');
      const dialog = await page.get('dialog', 'New task');
      (await dialog.field('Title')).type('Paint');
      (await dialog.field('Assignee')).select(doer);
      (await dialog.field('Proof')).select(choice);
      if (choice === 'own') {
        await page.waitFor('requirements', () => dialog.all('button', 'Create task')[0]?.isDisabled);
        (await dialog.field('Command that must succeed')).type('npm test');
      }
      await dialog.press('Create task');
      await page.waitFor('the call', () => backend.changes.length === 1);
      assert.deepEqual(backend.changes[0]?.params['acceptance'], acceptance);
    });

  it('includes the patch of a code task, with added and removed lines in words', async () => {
    const patch = 'diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-<i>old</i>\n+new\n';
    const coding = {
      tool: 'CODEX',
      instructions: 'Paint.',
      branch: 'paint',
      project: null,
      owner_uid: 'ada',
      config: '{}',
      queue_seconds: 60,
      queue_ends_at: NOW,
      progress: null,
      failure: null,
      attempts: [],
      result: { claim_epoch: 1, bytes: 2, parts: 1 },
    };
    backend.put('tasks/task-1', { ...HANDED_IN, coding });
    backend.tools['coding.report_task'] = () => ({ result: { result: { diff: 'short', patch } } });
    const page = await Page.open(backend, '/t/task-1');
    await page.press('Show diff');
    await page.shows(/x\.ts\n@@ -1 \+1 @@\nRemoved: -<i>old<\/i>\nAdded: \+new/);
    assert.ok(!page.text.includes('short'));
  });

  it('shows the files that a task holds, and the task whose files it waits for', async () => {
    const context = { files: ['src/auth/**', 'README.md'] };
    const claim = { status: 'claimed', claimed_by: 'worker-1', claimed_at: NOW, file_wait: 10, files_held: true };
    backend.put('tasks/task-5', { description: 'Log in', context, ...claim });
    const wait = { files_wait: 'task-5', files_since: fromNow(-4 * 60_000), retry_at: fromNow(6 * 60_000) };
    backend.put('tasks/task-6', { description: 'Log out', context, file_wait: 10, blockers: 1, ...wait });
    const page = await Page.open(backend, '/t/task-6');
    await page.shows('Waits for files that Log in holds.');
    const files = await page.get('region', 'Files');
    await files.shows(/^FilesWaits for files that Log in holds, since 4 min ago\.src\/auth\/\*\*README\.md$/);
    page.follow('/tasks');
    await page.get('row', /Log out.*Waits for files of Log in/);
    page.follow('/t/task-5');
    await (await page.get('region', 'Files')).shows('Reserved for Worker 1.');
  });
});
