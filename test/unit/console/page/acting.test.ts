/** Actions of a person in the console: each screen calls its tool with the typed values and shows the outcome. */
import assert from 'node:assert/strict';
import { registerAgent } from '../../../../functions/src/toolsets/onboarding/tools/registerAgent.ts';
import { Backend, Refused } from './backend.ts';
import { NOW } from './clock.ts';
import { Page } from './page.ts';

const MINUTE = 60_000;

describe('console screen', () => {
  let backend: Backend;

  beforeEach(() => {
    backend = new Backend();
  });

  it('cancels only the selected tasks, whether they are selected by key or by mouse', async () => {
    for (const id of ['task-1', 'task-2', 'task-3'])
      backend.put(`tasks/${id}`, { description: id, dependents: ['task-4'] });
    const page = await Page.open(backend, '/tasks');
    (await page.get('link', 'task-1')).key('x');
    (await page.get('checkbox', 'Select task-3')).element.click();
    const selected = await page.get('region', 'Selected tasks');
    await selected.shows('2 selected');
    await selected.press('Cancel tasks');
    await (await page.get('dialog', 'Cancel 2 tasks?')).press('Keep tasks');
    await page.lacks('dialog');
    await selected.press('Cancel tasks');
    const dialog = await page.get('dialog', 'Cancel 2 tasks?');
    await dialog.shows('Agents stop working on them, and 1 task that needs them won’t start.');
    (await dialog.field('Reason')).type(' Not needed ');
    assert.deepEqual(backend.changes, []);
    await dialog.press('Cancel tasks');
    await page.lacks('region', 'Selected tasks');
    const reason = 'Not needed';
    assert.deepEqual(backend.called('coordination.cancel_task'), [
      { task_id: 'task-1', reason },
      { task_id: 'task-3', reason },
    ]);
  });

  it('reports how many of the selected tasks were refused, and keeps these tasks selected', async () => {
    for (const id of ['task-1', 'task-2']) backend.put(`tasks/${id}`, { description: id, priority: 5 });
    backend.tools['coordination.update_task'] = ({ task_id: id }) => {
      if (id === 'task-2') throw new Refused('There is no such task.');
    };
    const page = await Page.open(backend, '/tasks');
    for (const id of ['task-1', 'task-2']) (await page.get('checkbox', `Select ${id}`)).element.click();
    await page.press('Raise priority');
    await (await page.get('alert')).shows('1 of 2 couldn’t be changed. task-2: There is no such task.');
    await page.get('status', '1 selected');
    assert.equal((await page.get('checkbox', 'Select task-2')).isChecked, true);
    assert.deepEqual(backend.called('coordination.update_task')[0], { task_id: 'task-1', priority: 4 });
  });

  it('cancels many tasks in groups, shows the progress, and stops if the person asks', async () => {
    for (let number = 1; number <= 55; number++) backend.put(`tasks/task-${number}`);
    backend.tools['coordination.cancel_task'] = ({ task_id: id }) =>
      backend.put(`tasks/${id}`, { status: 'cancelled' });
    const page = await Page.open(backend, '/tasks');
    (await page.get('checkbox', 'Select all')).element.click();
    await page.get('status', '55 selected');
    const release = backend.hold('coordination.cancel_task');
    await page.press('Cancel tasks');
    await (await page.get('dialog')).press('Cancel tasks');
    await page.get('status', '0 of 55');
    await page.press('Stop');
    release();
    await (await page.get('alert')).shows('Stopped after 10 of 55.');
    await page.get('status', '45 selected');
    assert.equal(backend.called('coordination.cancel_task').length, 10);
    await page.press('Cancel tasks');
    await (await page.get('dialog')).press('Cancel tasks');
    await page.shows('No open tasks');
    assert.deepEqual(page.all('alert'), []);
  });

  it('cancels, retries or releases a task only after it has explained the effect', async () => {
    backend.put('agents/worker-1', { name: 'Worker' });
    const task = { description: 'Draw', claimed_by: 'worker-1', dependents: ['task-2'] };
    backend.put('tasks/task-1', { ...task, status: 'in_progress' });
    backend.tools['coordination.cancel_task'] = () => backend.put('tasks/task-1', { status: 'cancelled' });
    const page = await Page.open(backend, '/t/task-1');
    await page.choose('More actions', 'Release task…');
    const release = await page.get('dialog', 'Release “Draw”?');
    await release.shows('Worker stops, and another agent can claim it right away.');
    await release.press('Keep task');
    await page.choose('More actions', 'Cancel task…');
    const dialog = await page.get('dialog', 'Cancel “Draw”?');
    await dialog.shows(
      'Worker stops working on it. 1 task needs it and won’t be able to start. You can retry it later.',
    );
    assert.deepEqual(backend.changes, []);
    await dialog.press('Cancel task');
    await page.press('Retry');
    await page.choose('More actions', 'Retry with the 1 task it holds up');
    await page.waitFor('three calls', () => backend.changes.length === 3);
    const rows = backend.changes.map(({ method, params }) => [method, params]);
    assert.deepEqual(rows, [
      ['coordination.cancel_task', { task_id: 'task-1' }],
      ['coordination.retry_task', { task_id: 'task-1' }],
      ['coordination.retry_task', { task_id: 'task-1', with_dependents: true }],
    ]);
  });

  it('sends a message to the holder of a task, and releases the task with a reason', async () => {
    backend.put('agents/worker-1', { name: 'Worker' });
    backend.put('tasks/task-1', { description: 'Draw\nNeatly', status: 'claimed', claimed_by: 'worker-1' });
    backend.tools['coordination.message_agent'] = () => {
      throw new Refused('Its mailbox is full.');
    };
    const page = await Page.open(backend, '/t/task-1');
    await page.press('Message Worker');
    const dialog = await page.get('dialog', 'Message Worker');
    const send = await dialog.get('button', 'Send');
    assert.equal(send.isDisabled, true);
    (await dialog.field('Message')).type(' Mind the leap years. ');
    await dialog.press('Send');
    await (await dialog.get('alert')).shows('Its mailbox is full.');
    delete backend.tools['coordination.message_agent'];
    await dialog.press('Send');
    await page.get('status', /^Sent\. Worker reads it with its next call\./);
    await page.lacks('dialog');
    assert.equal(page.title, 'Draw · Muster');
    await page.choose('More actions', 'Release task…');
    const release = await page.get('dialog', 'Release “Draw”?');
    (await release.field('Reason')).type('It takes too long');
    await release.press('Release task');
    await page.waitFor('the release', () => backend.called('coordination.release_task').length > 0);
    const message = { agent_id: 'worker-1', message: 'Mind the leap years.', task_id: 'task-1' };
    assert.deepEqual(
      backend.changes.map(({ params }) => params),
      [message, message, { task_id: 'task-1', reason: 'It takes too long' }],
    );
  });

  it('explains why a task is as it is, and what helps', async () => {
    backend.put('tasks/task-1', { description: 'Draw' });
    backend.tools['access.explain'] = () => ({
      why: 'No agent can claim it.',
      waits: [{ why: 'No agent can do “drawing”.', remedy: 'Connect one that can.' }],
    });
    const page = await Page.open(backend, '/t/task-1');
    await page.choose('More actions', 'Why?');
    const dialog = await page.get('dialog', 'Why is it like this?');
    await dialog.shows('No agent can claim it.');
    await dialog.get('listitem', 'No agent can do “drawing”.What helps: Connect one that can.');
    await dialog.press('Close');
    await page.lacks('dialog');
    assert.deepEqual(backend.called('access.explain'), [{ task: 'task-1' }]);
  });

  it('creates a task after others, and opens the page of the task', async () => {
    backend.put('tasks/task-1', { description: 'Draw' });
    backend.tools['coordination.create_task'] = ({ description }) => {
      backend.put('tasks/task-2', { description });
      return { task: { id: 'task-2' } };
    };
    const page = await Page.open(backend, '/tasks');
    await page.press('New task');
    const dialog = await page.get('dialog', 'New task');
    assert.equal((await dialog.get('button', 'Create task')).isDisabled, true);
    (await dialog.field('Title')).type('Paint ');
    (await dialog.field('Instructions')).type('In oil.');
    (await dialog.field('Priority')).select('2');
    (await dialog.field('Needs an agent that can do')).type('oil, , brushes');
    (await dialog.field('Draw')).element.click();
    await dialog.press('Create task');
    await page.get('heading', 'Paint');
    assert.equal(page.address, '/t/task-2');
    await page.get('status', /^Created Paint/);
    const needed = { dependencies: ['task-1'], required_capabilities: ['oil', 'brushes'] };
    assert.deepEqual(backend.called('coordination.create_task'), [
      { priority: 2, description: 'Paint\nIn oil.', ...needed },
    ]);
  });

  it('retries a failed task with the tasks that it holds up, or without them', async () => {
    backend.put('tasks/task-1', { description: 'Draw', status: 'failed', completed_at: NOW });
    backend.put('tasks/task-2', { description: 'Paint', stuck: true, stuck_by: 'task-1', blockers: 1 });
    const page = await Page.open(backend);
    const failure = await page.get('article', /Draw.*Holds up 1 task: Paint/);
    await failure.press('Retry');
    await page.get('status', /^Retried Draw/);
    await failure.choose('More ways to retry', 'Retry this task');
    await page.waitFor('two calls', () => backend.changes.length === 2);
    assert.deepEqual(backend.called('coordination.retry_task'), [
      { task_id: 'task-1', with_dependents: true },
      { task_id: 'task-1' },
    ]);
  });

  it('answers a question by a button, and changes the answer within a minute', async () => {
    backend.put('requests/which', { kind: 'choice', question: 'Which dates?', options: ['Excel', '20xx'] });
    backend.tools['inbox.answer'] = ({ answer }) =>
      backend.put('requests/which', { state: 'answered', answer, settled_at: new Date(NOW.getTime() + 10 * MINUTE) });
    const page = await Page.open(backend);
    const question = await page.get('article', /Which dates/);
    await page.pass(10 * MINUTE);
    await question.press('20xx');
    await question.shows('Answered “20xx”');
    await question.press('Change answer');
    await question.press('Excel');
    await question.shows('Answered “Excel”Change answerYou can change it for 1 min.');
    await page.pass(MINUTE);
    await page.lacks('article');
    await page.shows('You’re all caught up');
    assert.deepEqual(backend.called('inbox.answer'), [
      { request_id: 'which', answer: '20xx' },
      { request_id: 'which', answer: 'Excel' },
    ]);
  });

  it('shows what a call would do before the person approves it, with a note', async () => {
    const rights = { toolsets: null, held_to: null, readonly: false, grant: null };
    const call = { tool: 'github.createPR', arguments: '{"title":"A \\u202eB"}', ...rights };
    backend.put('requests/may', { kind: 'approval', question: 'May I?', call });
    backend.tools['inbox.answer'] = ({ answer }) =>
      backend.put('requests/may', { state: 'answered', answer, settled_at: NOW });
    const page = await Page.open(backend);
    const approval = await page.get('article', /requests approval.*May I\?.*Runs github\.createPR/);
    await approval.shows('TitleA U+202EB');
    await approval.press('Hide details');
    await approval.hides('TitleA U+202EB');
    await approval.press('Add a note');
    (await approval.field('Note')).type('Gladly');
    await approval.press('Approve');
    // The call runs, so the answer can no longer be changed.
    await approval.get('status', 'ApprovedThe call is running.');
    backend.put('requests/may', { outcome: '{"answer":{}}' });
    await approval.get('status', 'ApprovedThe call succeeded.');
    backend.put('requests/may', { outcome: '{"error":{"code":"CONFLICT","message":"It is merged."}}' });
    await approval.get('status', 'ApprovedThe call failed: It is merged.');
    assert.deepEqual(backend.called('inbox.answer'), [{ request_id: 'may', answer: 'approve', comment: 'Gladly' }]);
  });

  it('sets and removes the limit of a task, and rejects an invalid amount', async () => {
    backend.put('tasks/task-1');
    let money: unknown;
    const amount = { limit: {}, spent: { money: 0, tokens: 0 }, left: {} };
    backend.tools['system.getTree'] = ({ kind, id }) => ({
      node: { kind, id },
      path: [],
      parts: [],
      budgets: money === undefined ? [] : [{ ...amount, kind, id, limit: { money } }],
    });
    backend.tools['system.setBudget'] = ({ money: wanted }) => {
      money = wanted;
    };
    const page = await Page.open(backend, '/t/task-1');
    const cost = await page.get('region', 'Cost');
    await cost.press('Set limit');
    let dialog = await page.get('dialog', 'Spending limit');
    let field = await dialog.field('Spending limit');
    field.type('a lot');
    await dialog.waitFor('no limit', () => dialog.all('button', 'Set limit')[0]?.isDisabled);
    field.type('2.5');
    await dialog.press('Set limit');
    await cost.shows('$0.00of $2.50');
    await page.get('status', /^Limit set/);
    await cost.press('Set limit');
    dialog = await page.get('dialog', 'Spending limit');
    field = await dialog.field('Spending limit');
    assert.equal(field.value, '2.5');
    field.type('');
    await dialog.press('Set limit');
    await cost.shows('$0.00no limit');
    const about = { kind: 'task', id: 'task-1' };
    assert.deepEqual(backend.called('system.setBudget'), [
      { ...about, money: 2.5 },
      { ...about, clear: ['money'] },
    ]);
  });

  it('creates a key, shows its secret until the person closes the dialog, and shows a refusal', async () => {
    backend.tools['access.list_connections'] = () => ({ connections: [] });
    backend.tools['onboarding.registerAgent'] = () => {
      throw new Refused('You have too many agents.');
    };
    const page = await Page.open(backend, '/access?workspace=alpha');
    await page.press('Connect an agent');
    const dialog = await page.get('dialog', 'Connect an agent');
    await dialog.shows('muster "http://hub.example/mcp?workspace=alpha"');
    const name = await dialog.field('Name of the machine');
    name.type('ci 1');
    await dialog.shows('Use 3 to 50 letters');
    assert.equal((await dialog.get('button', 'Create key')).isDisabled, true);
    name.type('ci-1');
    const create = async () => {
      await dialog.press('Create key');
      const sure = await page.get('dialog', 'Create a key for ci-1?');
      await sure.shows('its present key stops working');
      await sure.press('Create key');
    };
    await create();
    await (await dialog.get('alert')).shows('You have too many agents.');
    const credentials = { apiKey: 'mk_a', secret: 'hush', expiresAt: '2099-01-01T00:00:00Z' };
    backend.tools['onboarding.registerAgent'] = () => ({ agentId: 'ci-1-x', credentials });
    await create();
    await dialog.shows('The key of ci-1-x, valid until 2099-01-01. It is shown only now, so store it.mk_a.hush');
    await dialog.shows('muster "http://hub.example/mcp?workspace=alpha" --header "Authorization: Bearer <key>"');
    const { workspace, role } = registerAgent.input.parse(backend.called('onboarding.registerAgent')[1]);
    assert.deepEqual([workspace, role], ['alpha', 'worker']);
    await page.waitFor('the list of keys again', () => backend.called('access.list_connections').length === 2);
    await dialog.press('Close');
    await page.lacks('dialog');
    await page.press('Connect an agent');
    await (await page.get('dialog', 'Connect an agent')).field('Name of the machine');
    assert.ok(!page.element.innerHTML.includes('hush'));
  });

  it('withdraws an invitation, and undoes it', async () => {
    const invitation = { email: 'eve@example.org', role: 'worker', expires_at: NOW.toISOString() };
    let invitations = [invitation];
    backend.tools['access.list_members'] = () => ({ access: 'private', members: [], invitations });
    backend.tools['access.withdraw_invitation'] = () => {
      invitations = [];
    };
    backend.tools['access.invite'] = () => {
      invitations = [invitation];
    };
    const page = await Page.open(backend, '/access');
    await (await page.get('listitem', /^eve@example\.orgInvited.*Worker/)).press('Withdraw invitation');
    await page.lacks('listitem', /eve@example\.org/);
    const toast = await page.get('status', /^Withdrew the invitation of eve@example\.org/);
    await toast.press('Undo');
    await page.get('listitem', /^eve@example\.org/);
    assert.deepEqual(backend.called('access.withdraw_invitation'), [{ email: 'eve@example.org' }]);
    const again = { email: 'eve@example.org', role: 'worker', workspace: 'default' };
    assert.deepEqual(backend.called('access.invite'), [again]);
  });

  it('changes the role of a member at once, and removes a member only after a confirmation', async () => {
    const added_at = NOW.toISOString();
    let members = [{ uid: 'ben', role: 'worker', name: 'Ben', added_at }];
    backend.tools['access.list_members'] = () => ({ access: 'private', members });
    backend.tools['access.set_member'] = ({ role }) => {
      members = [{ uid: 'ben', role: String(role), name: 'Ben', added_at }];
    };
    backend.tools['access.remove_member'] = () => {
      members = [];
    };
    const page = await Page.open(backend, '/access');
    const role = await page.field('Role of Ben');
    role.select('leader');
    await (await page.get('status', /^Ben is now a leader/)).press('Undo');
    await page.waitFor('the earlier role', () => role.value === 'worker');
    await page.choose('Actions for Ben', 'Remove from workspace…');
    const dialog = await page.get('dialog', 'Remove Ben from default?');
    await dialog.shows('They and their agents lose access within seconds.');
    assert.deepEqual(backend.called('access.remove_member'), []);
    await dialog.press('Remove from workspace');
    await page.lacks('listitem', /Ben/);
    const given = backend.called('access.set_member').map((params) => params['role']);
    assert.deepEqual(given, ['leader', 'worker']);
  });

  it('invites a person, and shows a link for them', async () => {
    const page = await Page.open(backend, '/access?workspace=alpha');
    await page.press('Invite people');
    const dialog = await page.get('dialog', 'Invite people');
    (await dialog.field('Role')).select('leader');
    await dialog.shows('Can also plan tasks, set limits and invite people.');
    (await dialog.field('Email')).type('eve@example.org');
    await dialog.press('Send invitation');
    await dialog.shows('eve@example.org is invited.');
    await dialog.shows('http://console.example/?workspace=alpha');
    assert.deepEqual(backend.called('access.invite'), [{ email: 'eve@example.org', role: 'leader' }]);
  });

  it('lets a leader choose what agents must ask before, and keeps other rules', async () => {
    const rule = { tool: 'github.createPR', above_usd: null, asks: 'ben' };
    backend.put('workspaces/default', { approvals: [rule] });
    const page = await Page.open(backend, '/access');
    assert.equal((await page.field('An agent opens a pull request')).isChecked, true);
    (await page.field('An agent commits to a repository')).element.click();
    // The second choice is made before the first is stored, and keeps it.
    (await page.field('An agent starts a code task')).element.click();
    await page.waitFor('the calls', () => backend.called('access.update_workspace').length === 2);
    const first = [
      { tool: 'github.createPR', asks: 'ben' },
      { tool: 'github.commitFiles' },
      { tool: 'github.createBranch' },
    ];
    assert.deepEqual(backend.called('access.update_workspace'), [
      { workspace: 'default', approvals: first },
      { workspace: 'default', approvals: [...first, { tool: 'coding.create_task' }] },
    ]);
  });

  it('saves the preferences of a person, and rejects invalid values', async () => {
    backend.put('agents/helper', { name: 'Helper', owner_uid: 'ada' });
    const page = await Page.open(backend, '/preferences');
    const minutes = await page.field('Remind me before a to-do is due');
    const save = await page.get('button', 'Save changes');
    assert.equal(minutes.value, '60');
    assert.equal(save.isDisabled, true);
    minutes.type('soon');
    await page.shows('Enter a whole number of minutes');
    assert.equal(save.isDisabled, true);
    minutes.type('15');
    (await page.field('Email')).element.click();
    (await page.field('Helper')).element.click();
    await page.press('Save changes');
    await page.get('status', /^Saved/);
    assert.deepEqual(backend.document('preferences/ada'), {
      reminder_lead_minutes: 15,
      push: true,
      email: true,
      agents_may_answer: ['helper'],
    });
  });

  it('starts a run with a limit, and opens the page of the run', async () => {
    backend.put('runs/run-1', { title: 'Say which index' });
    backend.tools['orchestration.orchestrate'] = () => ({ runId: 'run-1' });
    const page = await Page.open(backend, '/runs');
    (await page.field('Question or task')).type('Say which index');
    (await page.field('Workflow')).select('direct');
    const limit = await page.field('Spending limit');
    limit.type('a lot');
    await page.shows('Enter an amount up to $10,000.');
    assert.equal((await page.get('button', 'Start run')).isDisabled, true);
    limit.type('0.5');
    await page.press('Start run');
    await page.get('heading', 'Say which index');
    assert.equal(page.address, '/r/run-1');
    assert.deepEqual(backend.called('orchestration.orchestrate'), [
      {
        prompt: 'Say which index',
        preferences: { workflow: 'direct' },
        options: { timeout: 0, budget: { cost_usd: 0.5 } },
      },
    ]);
  });

  it('explains which permission a person lacks, and who can grant it', async () => {
    backend.tools['access.explain'] = () => ({
      allowed: false,
      needs: 'the role leader',
      why: 'A worker may not.',
      has: { role: 'worker', from: 'default' },
      changeable_by: { who: 'a leader', people: [{ uid: 'ben', name: 'Ben' }] },
    });
    const page = await Page.open(backend, '/access');
    const check = await page.get('region', 'Check access');
    (await check.field('Check')).select('firestore');
    (await check.field('Path')).type('tasks/task-1');
    (await check.field('Action')).select('write');
    await check.press('Check');
    await check.shows('Refused. A worker may not.');
    await check.shows('Needs the role leader. Has worker from default. Ben can change this.');
    assert.deepEqual(backend.called('access.explain'), [
      { database: 'firestore', path: 'tasks/task-1', operation: 'write' },
    ]);
  });

  it('undoes an action from the audit log, and reports what was not undone', async () => {
    backend.put('tasks/task-1', { description: 'Draw' });
    const event = { event_id: 'e1', at: NOW.toISOString(), by: 'worker-1', on_behalf_of: 'ada' };
    const changes = [{ kind: 'task', id: 'task-1', after: { description: 'Draw' } }];
    let undone_by: string | undefined;
    backend.tools['system.getAudit'] = () => ({
      events: [{ ...event, tool: 'coordination.create_task', changes, undone_by }],
    });
    backend.tools['system.undo'] = () => {
      undone_by = 'ada';
      const refused = [{ kind: 'page', id: 'home', why: 'It was changed since.' }];
      return { undone: [{ kind: 'task', id: 'task-1' }], refused, more: false };
    };
    const page = await Page.open(backend, '/audit?of=workspace');
    await (await page.get('listitem', /worker-1 created Draw/)).press('Undo');
    const outcome = await page.get('status', 'Undo result');
    await outcome.shows('Undone: Draw');
    await outcome.shows('Not undone: page home. It was changed since.');
    const line = await page.get('listitem', /worker-1 created DrawUndone/);
    assert.deepEqual(line.all('button', 'Undo'), []);
    assert.deepEqual(backend.called('system.undo'), [{ event_id: 'e1' }]);
  });

  it('reports that the outcome is unknown if a call gets no response', async () => {
    backend.put('tasks/task-1');
    const page = await Page.open(backend, '/t/task-1');
    await page.press('More actions');
    const raise = await page.get('button', 'Raise priority');
    backend.isReachable = false;
    raise.element.click();
    await (await page.get('alert')).shows('Check whether the change was made before you retry.');
  });
});
