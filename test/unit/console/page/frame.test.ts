/** The frame around the screens of the console: workspaces, addresses, connection, roles and notifications. */
import assert from 'node:assert/strict';
import { Backend } from './backend.ts';
import { NOW } from './clock.ts';
import { Page } from './page.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('frame of the console', () => {
  let backend: Backend;

  beforeEach(() => {
    backend = new Backend();
  });

  const hasRoles = (roles: Readonly<Record<string, string>>) => {
    const workspaces = Object.entries(roles).map(([workspace, role]) => ({ workspace, role }));
    backend.tools['access.whoami'] = () => ({ workspaces, truncated: false, accepted: [] });
  };

  it('offers to create the workspace of an address, and opens it', async () => {
    backend.tools['access.create_workspace'] = ({ name }) => hasRoles({ default: 'leader', [String(name)]: 'leader' });
    const page = await Page.open(backend, '/?workspace=alpha');
    await page.get('status', /^There’s no workspace “alpha”, or you don’t have a role in it\./);
    await page.press('Create “alpha”');
    const dialog = await page.get('dialog', 'New workspace');
    const name = await dialog.field('Name');
    assert.equal(name.value, 'alpha');
    name.type('a b');
    await dialog.shows('Use 1 to 64 letters, digits, hyphens and underscores.');
    assert.equal((await dialog.get('button', 'Create workspace')).isDisabled, true);
    name.type('beta');
    await dialog.press('Create workspace');
    await page.get('status', /^Created beta/);
    await page.lacks('dialog');
    await page.lacks('status', /^There’s no workspace/);
    assert.equal(page.address, '/?workspace=beta');
    assert.deepEqual(backend.called('access.create_workspace'), [{ name: 'beta', access: 'private' }]);
  });

  it('switches between workspaces, and creates one from the menu', async () => {
    hasRoles({ default: 'leader', alpha: 'viewer' });
    backend.tools['access.create_workspace'] = () => hasRoles({ default: 'leader', alpha: 'viewer', beta: 'leader' });
    const page = await Page.open(backend, '/tasks');
    await page.press(/^Switch workspace/);
    (await page.get('link', 'alpha')).element.click();
    await page.get('button', /^Switch workspace.*alpha/);
    assert.equal(page.address, '/?workspace=alpha');
    await page.shows('Ada PersonViewer');
    await page.choose(/^Switch workspace/, 'New workspace…');
    const dialog = await page.get('dialog', 'New workspace');
    (await dialog.field('Name')).type('beta');
    (await dialog.field('Who can see it')).select('open');
    await dialog.press('Create workspace');
    await page.shows('Ada PersonLeader');
    assert.equal(page.address, '/?workspace=beta');
    assert.deepEqual(backend.called('access.create_workspace'), [{ name: 'beta', access: 'open' }]);
  });

  it('keeps view, sorting and filters of tasks in the address', async () => {
    for (const [id, priority] of Object.entries({ Draw: 5, Paint: 9, Hang: 1 }))
      backend.put(`tasks/${id}`, { description: id, priority });
    const page = await Page.open(backend, '/tasks');
    const titles = () => page.all('link', /^(Draw|Paint|Hang)$/).map(({ text }) => text);
    await page.get('row', 'Ready3');
    await page.press('Priority');
    await page.waitFor('the order by priority', () => titles().join() === 'Hang,Draw,Paint');
    await page.lacks('row', 'Ready3');
    assert.equal(page.address, '/tasks?sort=priority');
    await page.press('Priority');
    await page.waitFor('the reverse order', () => titles().join() === 'Paint,Draw,Hang');
    assert.equal(page.address, '/tasks?sort=-priority');
    (await page.field('Filter tasks')).type('pain');
    await page.get('status', '1 of 3 match');
    assert.deepEqual(titles(), ['Paint']);
    assert.equal(page.address, '/tasks?sort=-priority&q=pain');
    await page.press('Board');
    await page.get('region', 'Closed');
    assert.deepEqual(titles(), ['Paint']);
    assert.equal(page.address, '/tasks?sort=-priority&q=pain&view=board');
    await page.press('Table');
    await page.press(/^Done/);
    await page.shows('No done tasks');
    assert.equal(page.address, '/tasks?sort=-priority&q=pain&show=done');
    const again = await Page.open(backend, '/tasks?sort=-priority&q=a');
    const order = () => again.all('link', /^(Draw|Paint|Hang)$/).map(({ text }) => text);
    await again.waitFor('the tasks of the address', () => order().join() === 'Paint,Draw,Hang');
  });

  it('shows the columns that a person chooses, and saves a view by its name', async () => {
    const spent = { cost_usd: 1.5, input_tokens: 1, output_tokens: 1, milliseconds: 1 };
    backend.put('tasks/task-1', { description: 'Draw', spent });
    const page = await Page.open(backend, '/tasks?sort=cost');
    await page.press('View options');
    // The menu stays open, and is above the table, which has a button of the same name.
    for (const column of ['Cost', 'Assignee']) await page.press(column);
    await page.get('row', /^TaskStatusLeasePriorityCreatedCost$/);
    await page.get('row', /^Draw.*\$1\.50$/);
    assert.deepEqual(page.all('row', /Unassigned/), []);
    await (await page.field('Save this view as')).type('Dear');
    await page.press('Save');
    await page.press('Clear filters');
    await page.waitFor('no filters', () => page.address === '/tasks');
    await page.choose('View options', 'Dear');
    await page.waitFor('the view', () => page.address === '/tasks?sort=cost');
    await page.choose('View options', 'Remove saved views');
    await page.press('View options');
    await page.lacks('button', 'Dear');
  });

  it('narrows the recent activity by who acted and by kind', async () => {
    backend.put('agents/worker-1', { name: 'Worker' });
    const event = (by: string, tool: string, changes: readonly object[]) => {
      return { event_id: `${by} ${tool}`, at: NOW.toISOString(), by, on_behalf_of: 'ada', tool, changes };
    };
    const created = [{ kind: 'task', id: 'task-1', after: { description: 'Draw' } }];
    const added = [{ kind: 'todo', id: 'todo-1', after: { title: 'Sing' } }];
    const events = [event('worker-1', 'coordination.create_task', created), event('ada', 'todo.add_task', added)];
    backend.tools['system.getAudit'] = ({ agent_id: by }) => ({
      events: events.filter((one) => by === undefined || one.by === by),
    });
    const page = await Page.open(backend);
    const activity = await page.get('region', 'Recent activity');
    const [who, kind] = [await activity.field('By whom'), await activity.field('Kind of activity')];
    const shows = (...sentences: readonly string[]) =>
      activity.waitFor(`only ${sentences}`, () => {
        const lines = activity.all('listitem').map(({ text }) => text);
        return lines.length === sentences.length && sentences.every((one, index) => lines[index]?.includes(one));
      });
    await shows('Worker created Draw', 'You added the to-do Sing');
    kind.select('todo');
    await shows('You added the to-do Sing');
    kind.select('');
    await shows('Worker created Draw', 'You added the to-do Sing');
    who.select('ada');
    await shows('You added the to-do Sing');
    who.select('worker-1');
    await shows('Worker created Draw');
    assert.equal(backend.called('system.getAudit').at(-1)?.['agent_id'], 'worker-1');
    kind.select('todo');
    await activity.shows('Nothing happened yet');
  });

  it('searches older activity if a filter is set, and continues on request', async () => {
    // Each page of the log has 30 events, of which one is about a to-do.
    const event = (page: number, index: number) => ({
      event_id: `${page} ${index}`,
      at: new Date(NOW.getTime() - page * HOUR - index * MINUTE).toISOString(),
      by: 'worker-1',
      on_behalf_of: 'ada',
      tool: index === 7 ? 'todo.add_task' : 'coordination.create_task',
      changes: [],
    });
    backend.tools['system.getAudit'] = ({ cursor = '0' }) => {
      const page = Number(cursor);
      const events = Array.from({ length: 30 }, (_none, index) => event(page, index));
      return { events, ...(page < 7 && { nextCursor: `${page + 1}` }) };
    };
    const page = await Page.open(backend);
    const activity = await page.get('region', 'Recent activity');
    const kind = await activity.field('Kind of activity');
    const hasLines = (count: number) =>
      activity.waitFor(`${count} lines`, () => activity.all('listitem').length === count);
    await hasLines(30);
    assert.equal(backend.called('system.getAudit').length, 1);
    kind.select('todo');
    await hasLines(5);
    await activity.press('Load older');
    await hasLines(8);
    await activity.lacks('button', 'Load older');
    kind.select('access');
    await activity.shows('Nothing found in the recent activity.');
    await activity.press('Load older');
    await activity.shows('Nothing happened yet');
    (await activity.field('By whom')).select('ada');
    await activity.waitFor('own activity', () => backend.called('system.getAudit').at(-1)?.['of'] === 'mine');
  });

  it('says when the connection is lost, and lets nothing be changed after 30 seconds', async () => {
    backend.put('todos/todo-1', { title: 'Sing', due_date: new Date(NOW.getTime() - MINUTE) });
    const page = await Page.open(backend);
    const todo = await page.get('article', /Sing/);
    await page.get('status', 'Live');
    backend.connect(false);
    await page.get('status', 'Reconnecting…');
    await page.get('status', /^Reconnecting\. What you see is from 12:00/);
    const done = await todo.get('button', 'Mark done');
    assert.equal(done.isDisabled, false);
    await page.pass(30_000);
    await page.get('status', 'Offline');
    await page.waitFor('a disabled button', () => done.isDisabled);
    page.follow('/todos');
    for (const name of ['Mark done: Sing', 'Add']) {
      const button = await page.get('button', name);
      assert.equal(button.isDisabled, true, name);
    }
    backend.connect(true);
    await page.get('status', 'Live');
    await page.lacks('status', /^Reconnecting/);
    await page.press('Mark done: Sing');
    await page.waitFor('the call', () => backend.changes.length > 0);
  });

  it('disables all fields that change something after 30 seconds without a connection', async () => {
    const member = { uid: 'ben', role: 'worker', name: 'Ben', added_at: NOW.toISOString() };
    backend.tools['access.list_members'] = () => ({ access: 'private', members: [member] });
    backend.put('workspaces/default', { approvals: [{ tool: 'github.forkRepo', above_usd: null, asks: null }] });
    backend.put('agents/helper', { name: 'Helper', owner_uid: 'ada' });
    backend.put('tasks/task-1');
    backend.put('todos/todo-1', { title: 'Sing', due_date: new Date(NOW.getTime() + MINUTE) });
    backend.put('todos/todo-2', { title: 'Dance', completed: true, completed_at: NOW });
    const fields = {
      '/access': ['Role of Ben', 'An agent commits to a repository', 'github.forkRepo'],
      '/preferences': ['Push', 'Email', 'Helper'],
      '/t/task-1': ['Priority', 'Deadline'],
    };
    const page = await Page.open(backend, '/todos');
    const todo = await page.get('listitem', /Sing/);
    const isDraggable = () => todo.element.getAttribute('draggable') === 'true';
    assert.equal(isDraggable(), true);
    backend.connect(false);
    await page.get('status', 'Reconnecting…');
    await page.pass(30_000);
    await page.get('status', 'Offline');
    await page.waitFor('a row that cannot be dragged', () => !isDraggable());
    for (const name of ['Mark done: Sing', 'Reopen: Dance'])
      assert.equal((await page.get('button', name)).isDisabled, true, name);
    const allAre = async (isDisabled: boolean) => {
      for (const [address, names] of Object.entries(fields)) {
        page.follow(address);
        for (const name of names) assert.equal((await page.field(name)).isDisabled, isDisabled, name);
      }
    };
    await allAre(true);
    backend.connect(true);
    await page.get('status', 'Live');
    await allAre(false);
  });

  it('hides from a viewer what they may not do', async () => {
    hasRoles({ default: 'viewer' });
    backend.put('tasks/task-1', { description: 'Draw', status: 'claimed', claimed_by: 'worker-1' });
    const page = await Page.open(backend, '/tasks');
    (await page.get('link', 'Draw')).element.click();
    await page.get('heading', 'Draw');
    await page.press('More actions');
    await page.get('button', 'Why?');
    for (const name of [/^Message/, 'Raise priority', 'Release task…', 'Cancel task…', 'Set limit'])
      assert.deepEqual(page.all('button', name), []);
    for (const [path, name] of Object.entries({ tasks: 'New task', access: 'Invite people', runs: 'Start run' })) {
      page.follow(`/${path}`);
      await page.get('link', path[0]?.toUpperCase().concat(path.slice(1)));
      await page.lacks('button', name);
    }
  });

  it('opens for a person when they get their first role', async () => {
    backend.remove('people/ada');
    hasRoles({});
    const page = await Page.open(backend, '/tasks');
    await page.get('heading', 'You don’t have a role yet');
    await page.shows('Ask a workspace leader to invite ada@example.org.');
    await page.press('Try again');
    await page.get('status', 'You still don’t have a role.');
    const workspaces = [{ workspace: 'alpha', role: 'worker' }];
    backend.tools['access.whoami'] = () => ({ workspaces, truncated: false, accepted: workspaces });
    await page.press('Try again');
    await page.get('heading', 'Tasks');
    assert.equal(page.address, '/tasks?workspace=alpha');
  });

  it('notifies of a question that arrives while the page is not in front', async () => {
    const shown: { readonly question: string; readonly tag: string; onclick?(): void }[] = [];
    class Notification {
      static permission = 'default';
      static async requestPermission(): Promise<string> {
        return 'granted';
      }
      readonly tag: string;
      readonly question: string;
      constructor(question: string, { tag }: { readonly tag: string }) {
        this.question = question;
        this.tag = tag;
        shown.push(this);
      }
      close(): void {}
    }
    backend.put('requests/early', { question: 'Which dates?' });
    const page = await Page.open(backend, '/tasks', { Notification });
    await page.choose('1 thing is waiting for you', 'Turn on browser notifications');
    backend.put('requests/seen', { question: 'Which format?' });
    await page.get('button', '2 things are waiting for you');
    page.window.document.hasFocus = () => false;
    backend.put('requests/late', { question: 'Which zone?' });
    await page.waitFor('a notification', () => shown.length > 0);
    assert.deepEqual(
      shown.map(({ question, tag }) => [question, tag]),
      [['Which zone?', 'late']],
    );
    shown[0]?.onclick?.();
    await page.waitFor('the question', () => page.address === '/?request=late');
  });

  it('does not notify of questions that already waited when the page opened', async () => {
    const shown: string[] = [];
    class Notification {
      static permission = 'granted';
      constructor(question: string) {
        shown.push(question);
      }
    }
    backend.put('requests/early', { question: 'Which dates?' });
    const page = await Page.open(backend, '/tasks', { Notification });
    page.window.document.hasFocus = () => false;
    await page.get('button', '1 thing is waiting for you');
    backend.put('requests/late', { question: 'Which zone?' });
    await page.waitFor('a notification', () => shown.length > 0);
    assert.deepEqual(shown, ['Which zone?']);
  });

  it('gets a new token for a person without a role, who may have got one since', async () => {
    backend.remove('people/ada');
    backend.tools['access.whoami'] = () => {
      const workspaces = backend.renewals > 0 ? [{ workspace: 'default', role: 'viewer' }] : [];
      return { workspaces, truncated: false, accepted: [] };
    };
    const page = await Page.open(backend, '/');
    await page.shows('Ada PersonViewer');
    assert.equal(backend.renewals, 1);
  });

  it('listens to the session of the last visit before the workspace is known', async () => {
    backend.remove('workspaces/default');
    const opened = (session: string) => backend.opened.some((asked) => asked.includes(`sessions/${session}"`));
    const page = await Page.open(backend, '/', { stored: { 'muster.visited': 'default session-1' } });
    await page.waitFor('the session', () => opened('session-1'));
    const other = await Page.open(backend, '/', { stored: { 'muster.visited': 'alpha session-2' } });
    await other.shows('No goal yet');
    assert.equal(opened('session-2'), false);
  });

  it('takes the names of agents from their list, without a query for each', async () => {
    backend.put('agents/worker', { name: 'Worker' });
    const event = { event_id: 'e', at: NOW.toISOString(), tool: 'firebase.subscribe', changes: [] };
    backend.tools['system.getAudit'] = () => ({
      events: ['worker', 'former'].map((by) => ({ ...event, by, on_behalf_of: by })),
    });
    const page = await Page.open(backend, '/');
    await page.shows('Worker subscribed to changes');
    await page.waitFor('the other agent', () => backend.opened.includes('{"document":"agents/former"}'));
    assert.equal(backend.opened.includes('{"document":"agents/worker"}'), false);
  });

  it('is light or dark as the person chooses', async () => {
    const page = await Page.open(backend);
    const html = page.window.document.documentElement;
    for (const [theme, next] of [
      [null, 'System'],
      ['light', 'Light'],
      ['dark', 'Dark'],
    ] as const) {
      await page.press(/^Ada Person/);
      const entry = await page.get('button', `Theme${next}`);
      assert.equal(html.getAttribute('data-theme'), theme);
      entry.element.click();
    }
    await page.waitFor('the theme of the system', () => html.getAttribute('data-theme') === null);
  });
});
