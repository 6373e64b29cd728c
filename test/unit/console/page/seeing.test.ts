/** Data that the console shows: live data, truncated lists and data that the person may not read. */
import assert from 'node:assert/strict';
import { Backend } from './backend.ts';
import { Page } from './page.ts';

const MANY = 2000;
const CHUNKS = 40;
const LINES_OF_CHUNK = 500;

describe('data shown in the console', () => {
  let backend: Backend;

  beforeEach(() => {
    backend = new Backend();
    backend.put('people/ada', { role: 'admin' });
    backend.put('workspaces/default', { session: 'session-1' });
    backend.put('workspaces/default/sessions/session-1');
  });

  it('counts blocked tasks separately from available ones', async () => {
    backend.put('workspaces/default/sessions/session-1/counters/0', { counts: { available: 6, done: 1 } });
    for (const number of [1, 2, 3, 4]) backend.put(`tasks/task-${number}`, { blockers: 1 });
    const page = await Page.open(backend, '/');
    await page.shows('1 of 7 tasks done · 2 available · 4 blocked');
  });

  it('includes a new task immediately, without another subscription', async () => {
    const page = await Page.open(backend, '/tasks?view=board');
    await page.shows('available 0');
    const { length } = backend.opened;
    for (let number = 1; number <= 20; number++)
      backend.put(`tasks/task-${number}`, { description: `Quick ${number}.` });
    for (let number = 1; number <= 20; number++) await page.get('link', `Quick ${number}.`);
    page.pass(3_600_000);
    assert.equal(backend.opened.length, length, 'no new listener is opened');
    assert.deepEqual(backend.calls, [], 'no tool is called');
  });

  it('is subscribed to once while a person is on the page, and again after a return to the page', async () => {
    backend.put('tasks/task-1', { description: 'Here' });
    const page = await Page.open(backend, '/tasks');
    await page.get('link', 'Here');
    assert.deepEqual(backend.opened.toSorted(), [...new Set(backend.opened)].sort());
    page.tell('pagehide');
    // The subscription to the connection status stays open.
    assert.equal(backend.heard, 2);
    backend.put('tasks/task-2', { description: 'While it was away' });
    page.tell('pageshow');
    await page.get('link', 'While it was away');
  });

  it('is replaced by a refusal when a role is revoked, and appears when a role is granted', async () => {
    backend.put('tasks/task-1', { description: 'In the open' });
    backend.denied.add('tasks').add('workspaces');
    const page = await Page.open(backend, '/tasks');
    await page.shows('You have no access to this.');
    backend.denied.clear();
    backend.put('people/ada', { workspaces: { default: 'viewer' } });
    await page.get('link', 'In the open');
    backend.denied.add('tasks').add('workspaces');
    backend.put('people/ada', { workspaces: {} });
    await page.shows('You have no access to this.');
    await page.lacks('link', 'In the open');
  });

  it('includes lists of the failed, the stuck and the held-up tasks', async () => {
    const longAgo = new Date(Date.now() - 3_600_000);
    const claim = { status: 'claimed', claimed_by: 'w', claimed_at: longAgo, lease_seconds: 600 };
    const check = { name: 'build', at: longAgo, repository: 'octo/app', pull_request: 7 };
    const tasks = {
      failed: { status: 'failed', error: 'The schema is missing.', completed_at: longAgo },
      never: { stuck: true, stuck_by: 'failed', blockers: 1 },
      left: { lapsed_claims: [{ agent_id: 'w', claim_epoch: 1 }] },
      returned: { lapsed_claims: [{ agent_id: 'w', claim_epoch: 1, released: true }] },
      lapsed: { ...claim, lease_expires_at: longAgo },
      red: { failed_check: check },
      dear: { budget_wait: 'workspace:default' },
      working: { ...claim, lease_expires_at: new Date(Date.now() + 3_600_000) },
    };
    for (const [id, more] of Object.entries(tasks)) backend.put(`tasks/${id}`, { description: id, ...more });
    const page = await Page.open(backend);
    const trouble = await page.get('region', 'Blocked');
    for (const id of ['failed', 'never', 'left', 'lapsed', 'red', 'dear']) await trouble.get('link', id);
    await trouble.get('heading', 'Blocked6');
    await trouble.shows('The schema is missing.');
    await trouble.shows('will never start');
    assert.deepEqual(trouble.all('link', /working|returned/), []);
  });

  it('includes the remaining time of a lease, and the fact that a lease has expired', async () => {
    const lease = { lease_seconds: 3600, lease_expires_at: new Date(Date.now() + 3_600_000) };
    backend.put('tasks/task-1', { status: 'claimed', claimed_by: 'w', claimed_at: new Date(), ...lease });
    const page = await Page.open(backend, '/tasks');
    await page.shows(/(1 h|59 min) left/);
    page.pass(30 * 60_000);
    await page.shows(/(30|29) min left/);
    page.pass(40 * 60_000);
    await page.shows(/lapsed (10|9) min ago/);
  });

  it('describes recurring to-dos in words, with their next date', async () => {
    const recurring = { title: 'Daily standup', frequency: 'DAILY', timezone: 'Europe/Berlin' };
    backend.put('recurringTasks/one', recurring);
    backend.tools['todo.list_recurring_tasks'] = () => ({
      recurring_tasks: [{ id: 'one', following_occurrences: ['2099-03-02T08:00:00Z', '2099-03-03T08:00:00Z'] }],
    });
    const page = await Page.open(backend, '/todos');
    await page.shows(/Daily standup every day at .*, Europe\/Berlin/);
    await page.shows(/(Mar 2|2 Mar).*(Mar 3|3 Mar)/);
  });

  it('includes the result of a delegated to-do', async () => {
    backend.put('todos/todo-1', { completed: true, delegated_task_id: 'task-9', delegated_result: 'It is wet.' });
    const page = await Page.open(backend, '/d/todo-1');
    await (await page.get('region', 'Result')).shows('It is wet.');
  });

  for (const [repository, shown, hidden] of [
    ['/home/ada/app', 'It is only on the machine of the runner worker-1, in /home/ada/app.', 'git fetch'],
    [undefined, 'git fetch origin much', 'was not pushed'],
  ] as const)
    it(`includes where the branch of a coding task is if it was ${repository ? 'not ' : ''}pushed`, async () => {
      const coding = { ...CODING, result: { claim_epoch: 1, bytes: 2, parts: 1 } };
      backend.put('tasks/task-1', { status: 'done', claimed_by: 'worker-1', coding });
      backend.tools['coding.report_task'] = () => ({ result: { result: { repository } } });
      const page = await Page.open(backend, '/t/task-1');
      await page.shows(shown);
      assert.ok(!page.text.includes(hidden));
    });

  it('includes which former claims of a task were released on request, and which expired', async () => {
    const claim = { agent_id: 'w', claim_epoch: 1 };
    backend.put('tasks/task-1', { lapsed_claims: [claim, { ...claim, claim_epoch: 2, released: true }] });
    const page = await Page.open(backend, '/t/task-1');
    await page.shows('Claim 1 of w lapsed: it was not heard of in time.');
    await page.shows('Claim 2 of w was released on request.');
  });

  it('includes an agent as alive only if it was seen in the last three minutes', async () => {
    backend.put('agents/worker-1', { status: 'offline' });
    backend.putNode('presence/worker-1', { last_seen: Date.now() });
    const page = await Page.open(backend);
    const agents = await page.get('region', /^Agents/);
    await agents.shows('alive, seen');
    backend.put('agents/worker-1', { status: 'active' });
    page.pass(181_000);
    await agents.shows('offline, seen');
  });

  it('includes the command that connects an agent to the empty workspace, quoted for a shell', async () => {
    const page = await Page.open(backend, '/?workspace=alpha');
    await page.shows('claude mcp add --transport http muster "http://hub.example/mcp?workspace=alpha"');
  });

  it('includes the findings of agents', async () => {
    backend.put('discoveries/one', { content: 'The export has two date formats.', tags: ['dates'] });
    const page = await Page.open(backend);
    await (await page.get('region', 'Found out')).shows('The export has two date formats.');
  });

  it('never includes the previous response after the person has selected another audit log', async () => {
    const event = { at: new Date().toISOString(), by: 'w', on_behalf_of: 'ada', workspace: 'default', changes: [] };
    backend.tools['system.getAudit'] = ({ of }) => ({ events: [{ ...event, event_id: 'e', tool: `tool.${of}` }] });
    const page = await Page.open(backend, '/audit?of=workspace');
    await page.shows('tool.workspace');
    const release = backend.hold('system.getAudit');
    await page.press('Mine and my agents’');
    await page.hides('tool.workspace');
    assert.equal(page.all('listitem').length, 0);
    release();
    await page.shows('tool.mine');
  });

  it('includes more rows of a truncated list on request, and no total for an incomplete list', async () => {
    const member = (uid: string) => ({ uid, role: 'worker', name: uid, added_at: new Date().toISOString() });
    const at = new Date(Date.now() + 86_400_000).toISOString();
    const key = (name: string) => ({
      agent_id: name,
      name,
      role: 'worker',
      home: 'default',
      expires_at: at,
      last_seen: at,
    });
    backend.tools['access.list_members'] = ({ cursor }) =>
      cursor === undefined
        ? { access: 'private', members: [member('One'), member('Two')], next_cursor: '2' }
        : { access: 'private', members: [member('Three')] };
    backend.tools['access.list_connections'] = ({ cursor }) =>
      cursor === undefined ? { connections: [key('First key')], next_cursor: '2' } : { connections: [key('Last key')] };
    const page = await Page.open(backend, '/access');
    const members = await page.get('region', /^Members of/);
    await members.get('heading', /3$/);
    await members.press('Show more members');
    await members.shows('Three');
    await members.shows('One');
    await members.get('heading', /3$/);
    page.follow('/agents');
    const connections = await page.get('region', 'Act for you');
    await connections.get('heading', /1\+$/);
    await connections.press('Show more connections');
    await connections.shows('Last key');
    await connections.get('heading', /2$/);
  });

  it('includes a task once if its words or its id are searched, and the Enter key opens the task', async () => {
    backend.put('tasks/task-water', { description: 'Draw the water' });
    const page = await Page.open(backend, '/tasks');
    await page.get('link', 'Draw the water');
    page.focused.key('k', { ctrlKey: true });
    const field = await page.get('combobox');
    field.type('the water');
    await page.get('option', /Draw the water/);
    field.type('task-water');
    await page.get('option', /Draw the water/);
    assert.equal(page.all('option').length, 1);
    field.key('Enter');
    await page.get('heading', 'Draw the water');
    assert.equal(page.address, '/t/task-water');
  });

  it('can be opened by keys: g and a letter for a screen; j, k and Enter for a task', async () => {
    for (const id of ['task-1', 'task-2']) backend.put(`tasks/${id}`, { description: id });
    const page = await Page.open(backend);
    await page.shows('No pending questions.');
    for (const [key, heading] of Object.entries({
      t: 'Tasks',
      d: 'To-dos',
      r: 'Runs',
      a: 'Agents',
      c: 'Access',
      u: 'Audit',
      m: 'Metrics',
      p: 'Preferences',
      n: 'Needs you',
    })) {
      page.focused.key('g');
      page.focused.key(key);
      await page.get('heading', heading);
    }
    page.follow('/tasks');
    const first = await page.get('link', 'task-1');
    first.key('j');
    assert.equal(page.focused.text, 'task-1');
    page.focused.key('j');
    assert.equal(page.focused.text, 'task-2');
    page.focused.key('k');
    assert.equal(page.focused.text, 'task-1');
  });

  it('remains visible on other screens if one screen cannot be rendered', async () => {
    const member = { uid: 'ben', role: 'worker', name: 'Ben', added_at: 'at no time' };
    backend.tools['access.list_members'] = () => ({ access: 'private', members: [member] });
    const page = await Page.open(backend, '/access');
    await (await page.get('alert')).shows('This screen cannot be shown.');
    assert.match(String(page.complaints), /Invalid time value/);
    page.follow('/');
    await page.shows('No pending questions.');
    member.added_at = new Date().toISOString();
    page.follow('/access');
    await page.shows('Ben');
  });

  it(`includes fewer than 100 of ${MANY} tasks at a time, and later tasks after scrolling`, async () => {
    for (let number = 1; number <= MANY; number++) {
      const created_at = new Date(Date.UTC(2026, 10, 24) + number);
      backend.put(`tasks/task-${number}`, { created_at, description: `Task ${number}` });
    }
    backend.put('workspaces/default/sessions/session-1/counters/0', { counts: { available: MANY } });
    const page = await Page.open(backend, '/tasks');
    await page.shows(`200 of ${MANY}.`);
    for (let loaded = 200; loaded < 800; loaded *= 2) {
      await page.press('Show more tasks');
      await page.shows(`${loaded * 2} of ${MANY}.`);
    }
    assert.ok(page.all('row').length < 100, `${page.all('row').length} rows`);
    const table = await page.get('region', 'Tasks');
    table.element.scrollTo({ top: 700 * 52 });
    await page.get('link', 'Task 710');
    assert.ok(page.all('row').length < 100, `${page.all('row').length} rows`);
  });

  it(`includes part of a log of ${CHUNKS * LINES_OF_CHUNK} lines, and earlier lines after scrolling`, async () => {
    const line = { level: 'info', type: 'output', at: new Date().toISOString() };
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      const first_line = chunk * LINES_OF_CHUNK;
      const lines = Array.from({ length: LINES_OF_CHUNK }, (_, index) =>
        JSON.stringify({ ...line, message: `says line ${first_line + index}.` }),
      );
      const parts = { [`n${first_line}`]: lines.join('\n') };
      const head = { chunk, first_line, lines: LINES_OF_CHUNK, bytes: 0, claim_epoch: 1, sequence: 0 };
      backend.put(`tasks/much/logs/${chunk}`, { ...head, parts });
    }
    backend.put('tasks/much', { coding: CODING });
    const page = await Page.open(backend, '/t/much');
    const log = await page.get('region', 'Lines of the log');
    await log.shows(/says line \d+/);
    await log.waitFor('the first line of the log', () => {
      log.element.scrollTo({ top: 0 });
      return log.text.includes('says line 0.');
    });
    assert.ok(log.element.querySelectorAll('p').length < 200);
  });
});

const CODING = {
  tool: 'CLAUDECODE',
  instructions: 'Say much.',
  branch: 'much',
  project: null,
  owner_uid: 'ada',
  config: '{}',
  queue_seconds: 60,
  queue_ends_at: new Date(),
  progress: null,
  failure: null,
  attempts: [],
  result: null,
};
