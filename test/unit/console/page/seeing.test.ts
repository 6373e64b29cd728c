/** Data that the console shows: live data, truncated lists and data that the person may not read. */
import assert from 'node:assert/strict';
import { Backend, Refused } from './backend.ts';
import { NOW } from './clock.ts';
import { Page } from './page.ts';

const MANY = 2000;
const CHUNKS = 40;
const LINES_OF_CHUNK = 500;
const LINES = CHUNKS * LINES_OF_CHUNK;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const fromNow = (milliseconds: number): Date => new Date(NOW.getTime() + milliseconds);

describe('data shown in the console', () => {
  let backend: Backend;

  beforeEach(() => {
    backend = new Backend();
  });

  it('counts blocked tasks separately from ready ones', async () => {
    backend.put('workspaces/default/sessions/session-1/counters/0', { counts: { available: 6, done: 1 } });
    for (const number of [1, 2, 3, 4]) backend.put(`tasks/task-${number}`, { blockers: 1 });
    const page = await Page.open(backend, '/');
    const goal = await page.get('region', 'Goal');
    await goal.shows('1 of 7 done');
    await goal.shows('2 ready, 4 blocked');
  });

  it('includes new activity at most every three seconds, and repeats a request that was limited', async () => {
    const counters = 'workspaces/default/sessions/session-1/counters/0';
    const calls = () => backend.called('system.getAudit').length;
    const page = await Page.open(backend, '/');
    await page.shows('Nothing happened yet');
    backend.put(counters, { counts: { available: 1 } });
    await page.shows('0 of 1 done');
    backend.put(counters, { counts: { available: 2 } });
    await page.shows('0 of 2 done');
    assert.equal(calls(), 1);
    backend.tools['system.getAudit'] = () => {
      throw new Refused('Too many calls.', 'RATE_LIMITED');
    };
    await page.pass(3001);
    await page.waitFor('the second request', () => calls() === 2);
    await page.shows('Nothing happened yet');
    const event = { event_id: 'e', at: NOW.toISOString(), by: 'ada', on_behalf_of: 'ada', changes: [] };
    backend.tools['system.getAudit'] = () => ({ events: [{ ...event, tool: 'firebase.subscribe' }] });
    await page.pass(15_001);
    await page.shows('You subscribed to changes');
    assert.equal(calls(), 3);
  });

  it('includes the response to the latest request, also if an earlier response arrives after it', async () => {
    const event = { event_id: 'e', at: NOW.toISOString(), by: 'ada', on_behalf_of: 'ada', changes: [] };
    const arriving = ['firebase.subscribe', 'firebase.unsubscribe'];
    backend.tools['system.getAudit'] = () => ({ events: [{ ...event, tool: arriving.shift() }] });
    const releaseFirst = backend.hold('system.getAudit');
    const page = await Page.open(backend, '/');
    await page.waitFor('the first request', () => backend.called('system.getAudit').length === 1);
    const releaseSecond = backend.hold('system.getAudit');
    backend.put('workspaces/default/sessions/session-1/counters/0', { counts: { available: 1 } });
    await page.shows('0 of 1 done');
    await page.pass(3001);
    await page.waitFor('the second request', () => backend.called('system.getAudit').length === 2);
    releaseSecond();
    await page.shows('You subscribed to changes');
    releaseFirst();
    await page.waitFor('the first response', () => arriving.length === 0);
    await page.pass(0);
    await page.shows('You subscribed to changes');
  });

  it('includes the latency of a single minute as a dot, because a line needs two points', async () => {
    const counts = { calls: 2, latencies: { b0: 2 } };
    backend.putNode('metrics/minutes', { [NOW.toISOString().replace(/\D/g, '').slice(0, 12)]: { all: counts } });
    const page = await Page.open(backend, '/metrics');
    const chart = await page.get('region', 'Latency');
    assert.equal(chart.element.querySelectorAll('polyline.dot').length, 2);
  });

  it('includes a new task immediately, without another subscription', async () => {
    const page = await Page.open(backend, '/tasks?view=board');
    await (await page.get('region', 'Ready')).shows('Ready0');
    const [{ length }, calls] = [backend.opened, backend.calls.length];
    for (let number = 1; number <= 20; number++)
      backend.put(`tasks/task-${number}`, { description: `Quick ${number}.` });
    for (let number = 1; number <= 20; number++) await page.get('link', `Quick ${number}.`);
    await page.pass(HOUR);
    await (await page.get('region', 'Ready')).shows('Ready20');
    assert.equal(backend.opened.length, length, 'no new listener is opened');
    assert.equal(backend.calls.length, calls, 'no tool is called');
  });

  it('is subscribed to once while a person is on the page, and again after a return to the page', async () => {
    backend.put('tasks/task-1', { description: 'Here' });
    const page = await Page.open(backend, '/tasks');
    await page.get('link', 'Here');
    assert.deepEqual(backend.opened.toSorted(), [...new Set(backend.opened)].sort());
    page.tell('pagehide');
    // The subscriptions to the connection status and to the server's time stay open.
    assert.equal(backend.heard, 2);
    backend.put('tasks/task-2', { description: 'While it was away' });
    page.tell('pageshow');
    await page.get('link', 'While it was away');
  });

  it('is replaced by a refusal when a role is revoked, and appears when a role is granted', async () => {
    backend.put('tasks/task-1', { description: 'In the open' });
    backend.denied.add('tasks').add('workspaces');
    const page = await Page.open(backend, '/tasks');
    await page.shows('You don’t have access to this');
    backend.denied.clear();
    backend.put('people/ada', { workspaces: { default: 'viewer' } });
    await page.get('link', 'In the open');
    backend.denied.add('tasks').add('workspaces');
    backend.put('people/ada', { workspaces: {} });
    await page.shows('You don’t have access to this');
    await page.lacks('link', 'In the open');
  });

  it('includes what waits for the person, with the number of it in the title and at the bell', async () => {
    const longAgo = fromNow(-HOUR);
    const claim = { status: 'claimed', claimed_by: 'w', claimed_at: longAgo, lease_seconds: 600 };
    const check = { name: 'build', at: longAgo, repository: 'octo/app', pull_request: 7 };
    const tasks = {
      failed: { status: 'failed', error: 'The schema is missing.', completed_at: longAgo },
      never: { stuck: true, stuck_by: 'failed', blockers: 1 },
      left: { lapsed_claims: [{ agent_id: 'w', claim_epoch: 1 }] },
      returned: { lapsed_claims: [{ agent_id: 'w', claim_epoch: 1, released: true }] },
      lapsed: { ...claim, lease_expires_at: longAgo },
      red: { failed_check: check },
      dear: { budget_wait: 'workspace-default' },
      working: { ...claim, lease_expires_at: fromNow(HOUR) },
    };
    for (const [id, more] of Object.entries(tasks)) backend.put(`tasks/${id}`, { description: id, ...more });
    backend.put('requests/which', { question: 'Which dates?', created_at: fromNow(-2 * HOUR) });
    backend.put('todos/late', { title: 'Mow the lawn', due_date: longAgo });
    backend.put('todos/soon', { title: 'Sing a song', due_date: fromNow(HOUR) });
    const page = await Page.open(backend);
    const waiting = await page.get('region', 'Waiting for you');
    const items = {
      'Which dates?': /asks2 h ago/,
      failed: /^Task failed.*The schema is missing\.Holds up 1 task: never/,
      left: /w went silent\. The task is ready for another agent\./,
      lapsed: /w went silent, and its lease has expired\./,
      red: /build failed on octo\/app#7/,
      dear: /Out of budget\. Raise the limit to continue\./,
      'Mow the lawn': /^To-do overdue by 1 h/,
    };
    for (const [title, words] of Object.entries(items))
      await (await waiting.get('article', new RegExp(title.replace('?', '\\?')))).shows(words);
    assert.equal(waiting.all('article').length, 7);
    assert.deepEqual(waiting.all('link', /working|returned|Sing/), []);
    await waiting.shows(/^Waiting for you7/);
    await page.waitFor('the number in the title', () => page.title === '(7) Needs you · Muster');
    await page.get('link', 'Needs you7');
    await page.press('7 things are waiting for you');
    await page.get('link', /^Task failed: failed/);
    (await page.get('link', /^Which dates\?/)).element.click();
    assert.equal(page.address, '/?request=which');
    assert.equal((await page.get('article', /Which dates/)).element.getAttribute('aria-current'), 'true');
    for (const kind of ['tasks/failed', 'tasks/left', 'tasks/lapsed', 'tasks/red', 'tasks/dear', 'todos/late'])
      backend.remove(kind);
    backend.put('requests/which', { state: 'answered' });
    await page.get('button', 'Notifications');
    await page.waitFor('no number in the title', () => page.title === 'Needs you · Muster');
  });

  it('includes the remaining time of a lease, which heartbeats renew, and that it has expired', async () => {
    const lease = { lease_seconds: 3600, lease_expires_at: fromNow(HOUR) };
    backend.put('tasks/task-1', { status: 'claimed', claimed_by: 'w', claimed_at: NOW, ...lease });
    const page = await Page.open(backend, '/tasks');
    const table = await page.get('region', 'Tasks');
    await table.shows(/w 1 hP/);
    await page.pass(30 * MINUTE);
    await table.shows(/w 30 minP/);
    backend.putNode('presence/w', { last_seen: fromNow(10 * MINUTE).getTime() });
    await table.shows(/w 40 minP/);
    await page.pass(50 * MINUTE);
    await table.shows('expired 10 min ago');
  });

  it('includes a link to the question that a task waits for only if the person is asked', async () => {
    const waiting_for = { request_id: 'question', who: 'Ada Lovelace', until: fromNow(HOUR) };
    backend.put('tasks/task-1', { status: 'in_progress', claimed_by: 'worker-1', waiting_for });
    const page = await Page.open(backend, '/t/task-1');
    await page.shows('is waiting for Ada Lovelace to answer, for up to 1 h.');
    await page.lacks('link', 'Answer its question');
    backend.put('requests/question', { question: 'Which color?', task_id: 'task-1' });
    (await page.get('link', 'Answer its question')).element.click();
    await page.get('article', /Which color\?/);
    (await page.get('link', /^Tasks/)).element.click();
    await page.get('link', 'Answer its question');
  });

  it('describes recurring to-dos in words, with their next dates', async () => {
    const recurring = { title: 'Daily standup', frequency: 'DAILY', timezone: 'Pacific/Kiritimati' };
    backend.put('recurringTasks/one', recurring);
    backend.tools['todo.list_recurring_tasks'] = () => ({
      recurring_tasks: [{ id: 'one', following_occurrences: ['2099-03-02T08:00:00Z', '2099-03-03T08:00:00Z'] }],
    });
    const page = await Page.open(backend, '/todos');
    const repeating = await page.get('region', 'Repeating');
    await repeating.shows(/^Repeating1Daily standupEvery day at .*, Pacific\/Kiritimati/);
    await repeating.shows(/Next .*(Mar 2|2 Mar).*(Mar 3|3 Mar)/);
  });

  it('includes the result of a delegated to-do', async () => {
    backend.put('todos/todo-1', { completed: true, delegated_task_id: 'task-9', delegated_result: 'It is wet.' });
    const page = await Page.open(backend, '/d/todo-1');
    await (await page.get('region', 'Result')).shows('It is wet.');
  });

  for (const [repository, shown, hidden] of [
    ['/home/ada/app', 'It is only on the machine of worker-1, in /home/ada/app.', 'git fetch'],
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
    const attempts = await page.get('region', 'Attempts');
    await attempts.get('listitem', /^Attempt 2.*Released$/);
    await attempts.get('listitem', /^Attempt 1.*Lease expired$/);
  });

  it('includes an agent as present only if a heartbeat came in the last three minutes', async () => {
    const held = { 'task-1': { session: 'session-1', claim_epoch: 1 } };
    backend.put('agents/worker-1', { name: 'Worker', last_seen: fromNow(-HOUR), held });
    backend.put('tasks/task-1', { description: 'Draw', status: 'claimed', claimed_by: 'worker-1' });
    backend.putNode('presence/worker-1', { last_seen: NOW.getTime() });
    const page = await Page.open(backend, '/a/worker-1');
    await page.shows('Working, seen just now');
    await page.pass(191_000);
    await page.shows('Silent, seen 3 min ago');
    page.follow('/');
    const agents = await page.get('region', 'Agents');
    await agents.shows(/Worker.*Silent, seen 3 min ago.*Draw/);
    backend.put('agents/worker-1', { held: {} });
    await agents.shows('1 agent is offline.');
    page.follow('/agents');
    await (await page.get('row', /^.?Worker/)).shows('Offline, seen 3 min ago');
    backend.putNode('presence/worker-1', { last_seen: fromNow(181_000).getTime() });
    await (await page.get('row', /^.?Worker/)).shows('Idle');
  });

  it('includes the command that connects an agent to the empty workspace, quoted for a shell', async () => {
    const page = await Page.open(backend, '/?workspace=alpha');
    await page.shows('claude mcp add --transport http muster "http://hub.example/mcp?workspace=alpha"');
    page.follow(`/?workspace=${encodeURIComponent('a"; sh "')}`);
    await page.shows('muster "http://hub.example/mcp?workspace=a%22%3B%20sh%20%22"');
  });

  it('includes the findings of agents', async () => {
    backend.put('discoveries/one', { content: 'The export has two date formats.', tags: ['dates'] });
    const page = await Page.open(backend);
    await (await page.get('region', 'Discoveries')).shows('The export has two date formats.');
  });

  it('includes texts of agents as plain text, with marks for invisible characters', async () => {
    backend.put('tasks/task-1', { description: 'Mind <img src="x" onerror="go()"> the \u202egap\u202c' });
    const page = await Page.open(backend, '/tasks');
    await page.get('link', 'Mind <img src="x" onerror="go()"> the U+202EgapU+202C');
    assert.equal(page.element.querySelector('img'), null);
  });

  it('includes how many items of a newer version cannot be shown, also if there is no other', async () => {
    backend.put('tasks/task-1', { description: 7 });
    backend.put('todos/todo-1', { priority: 'DIRE' });
    backend.put('agents/worker-1', { held: 'all' });
    const page = await Page.open(backend);
    for (const [path, empty] of Object.entries({
      tasks: 'No open tasks',
      todos: 'No to-dos',
      agents: 'No agents yet',
    })) {
      page.follow(`/${path}?show=all`);
      await page.shows(empty);
      await page.get('status', '1 couldn’t be shown. It was saved by a newer version.');
    }
  });

  it('never includes the previous response after the person has selected another audit log', async () => {
    const event = { at: NOW.toISOString(), by: 'w', on_behalf_of: 'ada', workspace: 'default', changes: [] };
    backend.tools['system.getAudit'] = ({ of }) => ({ events: [{ ...event, event_id: 'e', tool: `tool.${of}` }] });
    const page = await Page.open(backend, '/audit?of=workspace');
    await page.shows('w used tool.workspace');
    const release = backend.hold('system.getAudit');
    await page.press('You and your agents');
    await page.hides('tool.workspace');
    assert.deepEqual(page.all('listitem'), []);
    release();
    await page.shows('w used tool.mine');
  });

  it('includes more rows of a truncated list on request, and no total for an incomplete list', async () => {
    const member = (uid: string) => ({ uid, role: 'worker', name: uid, added_at: NOW.toISOString() });
    const at = fromNow(24 * HOUR).toISOString();
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
    const members = await page.get('region', 'Members');
    await members.shows(/^Members3default is private/);
    await members.press('Show more members');
    await members.shows('Three');
    await members.shows(/^Members3.*One.*Two/);
    const connections = await page.get('region', 'Agents and apps that act for you');
    await connections.shows('that act for you1+');
    await connections.press('Show more agents and apps that act for you');
    await connections.shows('Last key');
    await connections.shows('that act for you2');
  });

  it('includes a task once if its words or its id are searched, and the Enter key opens the task', async () => {
    backend.put('tasks/task-water', { description: 'Draw the water' });
    const page = await Page.open(backend, '/tasks');
    await page.get('link', 'Draw the water');
    page.focused.key('k', { ctrlKey: true });
    const field = await page.get('combobox');
    field.type('the water');
    await page.get('option', /^Draw the water/);
    field.type('milk');
    await page.lacks('option');
    field.type('task-water');
    await page.get('option', /^Draw the water/);
    assert.equal(page.all('option').length, 1);
    field.key('Enter');
    await page.get('heading', 'Draw the water');
    assert.equal(page.address, '/t/task-water');
  });

  it('includes to-dos that the server finds, after the person has stopped to type', async () => {
    backend.tools['todo.search_tasks'] = ({ query }) => ({
      tasks: [{ id: 'one', title: `To ${query}`, completed: true }],
    });
    const page = await Page.open(backend);
    await page.press(/^Search/);
    const field = await page.get('combobox');
    for (const words of ['sin', 'sing']) field.type(words);
    await page.get('status', 'Searching…');
    await page.lacks('option', /To/);
    await page.pass(200);
    await page.get('option', 'To singDone');
    assert.deepEqual(backend.called('todo.search_tasks'), [{ query: 'sing' }]);
  });

  it('can be opened by keys: g and a letter for a screen; j, k and Enter for a task', async () => {
    for (const id of ['task-1', 'task-2']) backend.put(`tasks/${id}`, { description: id });
    const page = await Page.open(backend);
    await page.shows('You’re all caught up');
    for (const [key, heading] of Object.entries({
      t: 'Tasks',
      d: 'To-dos',
      r: 'Runs',
      a: 'Agents',
      c: 'Access',
      u: 'Audit log',
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

  it('remains visible around a part that cannot be rendered', async () => {
    const member = { uid: 'ben', role: 'worker', name: 'Ben', added_at: 'at no time' };
    backend.tools['access.list_members'] = () => ({ access: 'private', members: [member] });
    const page = await Page.open(backend, '/access');
    const members = await page.get('region', 'Members');
    await (await members.get('alert')).shows('This part of the page couldn’t be shown.');
    assert.match(String(page.complaints), /Invalid time value/);
    await page.get('region', 'Check access');
    member.added_at = NOW.toISOString();
    page.follow('/');
    await page.shows('You’re all caught up');
    page.follow('/access');
    await page.get('listitem', /Ben/);
  });

  it(`includes fewer than 100 of ${MANY} tasks at a time, and later tasks after scrolling`, async () => {
    for (let number = 1; number <= MANY; number++) {
      const created_at = new Date(Date.UTC(2026, 10, 24) + number);
      backend.put(`tasks/task-${number}`, { created_at, description: `Task ${number}` });
    }
    backend.put('workspaces/default/sessions/session-1/counters/0', { counts: { available: MANY } });
    const page = await Page.open(backend, '/tasks');
    const total = MANY.toLocaleString('en');
    await page.shows(`200 of ${total}`);
    for (let loaded = 200; loaded < 800; loaded *= 2) {
      await page.press('Show more tasks');
      await page.shows(`${loaded * 2} of ${total}`);
    }
    assert.ok(page.all('row').length < 100, `${page.all('row').length} rows`);
    (await page.get('region', 'Tasks')).scroll(700 * 44);
    await page.get('link', 'Task 710');
    await page.lacks('link', 'Task 1');
    assert.ok(page.all('row').length < 100, `${page.all('row').length} rows`);
  });

  it(`includes the end of a log of ${LINES} lines, and earlier lines after scrolling`, async () => {
    const line = { level: 'info', type: 'output', at: NOW.toISOString() };
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
    const log = await page.get('region', 'Log lines');
    await log.shows(`says line ${LINES - 1}.`);
    await log.waitFor('the first line of the log', () => {
      log.scroll(0);
      return log.text.includes('says line 0.');
    });
    assert.ok(log.all('listitem').length < 200);
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
