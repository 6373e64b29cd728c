/** Long lists of the console: they show that there is more, and actions on many rows can be stopped. */
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../support/browser.ts';
import { type Account, seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

/** High enough for a table to show all rows of the test. */
const HIGH = { viewport: { width: 1280, height: 5000 } };

const MANY = 60;

/** Holds requests of the page that have these words until they are released. */
async function holdRequests(page: Page, words: string): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/mcp/rpc*', async (route) => {
    if ((route.request().postData() ?? '').includes(words)) await released;
    await route.fallback();
  });
  return release;
}

/** Has a tool answer the page with one page of a list for each cursor. */
async function answerPages(page: Page, method: string, pages: readonly object[]): Promise<void> {
  await page.route('**/mcp/rpc*', async (route) => {
    const body: unknown = JSON.parse(route.request().postData() ?? '{}');
    const { method: asked, params } = Object(body);
    if (asked !== method) return await route.fallback();
    const number = Number(params.cursor ?? 0);
    const isLast = number === pages.length - 1;
    const end = { truncated: !isLast, ...(!isLast && { next_cursor: String(number + 1) }) };
    await route.fulfill({ json: { jsonrpc: '2.0', id: 1, result: { ...pages[number], ...end } } });
  });
}

describe('long lists of the console', () => {
  let browser: Browser;
  let ada: Account;
  let visit: Visit;

  before(async () => {
    browser = await openBrowser();
    ada = await seededAccount('Ada Person');
  });
  after(() => browser?.close());
  afterEach(async () => {
    await visit?.close();
    assert.deepEqual(visit?.complaints ?? [], []);
  });

  it('cancels many tasks in groups, shows the progress, and stops on request', async () => {
    const work = new Work();
    await work.begin('Many');
    const tasks = Array.from({ length: MANY }, (_, number) => ({ description: `Number ${number}.` }));
    await work.call('leader', 'coordination.create_tasks_batch', { tasks });
    visit = await Visit.open(browser, HIGH);
    await visit.signIn(ada, `/tasks?workspace=${work.workspace}`);
    const { page } = visit;
    await page.getByRole('link', { name: 'Number 0.' }).waitFor();
    for (let row = 0; row < MANY; row++)
      await page.getByRole('checkbox', { name: 'Choose task-' }).nth(row).check();
    const chosen = page.getByRole('region', { name: 'The chosen tasks' });
    const release = await holdRequests(page, 'coordination.cancel_task');
    await chosen.getByRole('button', { name: `Cancel ${MANY}` }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Cancel ${MANY}` })
      .click();
    await page
      .getByRole('status')
      .filter({ hasText: `0 of ${MANY}` })
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    release();
    await page
      .getByRole('alert')
      .filter({ hasText: `Stopped after 50 of ${MANY}.` })
      .waitFor();
    await chosen.getByText('10 chosen').waitFor();
    await page.getByRole('button', { name: 'Cancelled 50' }).waitFor();
    await chosen.getByRole('button', { name: 'Cancel 10' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 10' }).click();
    await page.getByRole('button', { name: `Cancelled ${MANY}` }).waitFor();
    await page.getByRole('button', { name: 'Open 0' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  it('shows no answer under the heading of another question', async () => {
    const work = new Work();
    await work.begin('Whose');
    await work.task('Made by an agent');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/audit?of=workspace&workspace=${work.workspace}`);
    const { page } = visit;
    const entries = page.locator('main ol > li');
    await entries.first().waitFor();
    const release = await holdRequests(page, '"of":"mine"');
    await page.getByRole('button', { name: 'Mine and my agents’' }).click();
    await page.locator('main .loading').waitFor();
    assert.equal(await entries.count(), 0);
    release();
    await entries.first().waitFor();
  });

  it('shows more members and connections where their lists are cut, and counts no page as the whole', async () => {
    const work = new Work();
    await work.begin('Members');
    visit = await Visit.open(browser);
    const { page } = visit;
    const member = (uid: string) => ({ uid, role: 'worker', name: uid, added_at: new Date().toISOString() });
    await answerPages(page, 'access.list_members', [
      { access: 'private', members: [member('One'), member('Two')] },
      { access: 'private', members: [member('Three')] },
    ]);
    const at = new Date(Date.now() + 86_400_000).toISOString();
    const key = (name: string) => {
      return { agent_id: name, name, role: 'worker', home: 'default', expires_at: at, last_seen: at };
    };
    await answerPages(page, 'access.list_connections', [
      { connections: [key('First key')], ended: [] },
      { connections: [key('Last key')], ended: [] },
    ]);
    await visit.signIn(ada, `/access?workspace=${work.workspace}`);
    const members = page.getByRole('region', { name: 'Members of' });
    await members.getByRole('heading', { name: /3$/ }).waitFor();
    await members.getByRole('button', { name: 'Show more members' }).click();
    await members.getByText('Three', { exact: true }).waitFor();
    await members.getByText('One', { exact: true }).waitFor();
    await members.getByRole('heading', { name: /3$/ }).waitFor();
    await visit.follow(`/agents?workspace=${work.workspace}`);
    const connections = page.getByRole('region', { name: 'Act for you' });
    await connections.getByRole('heading', { name: /1\+$/ }).waitFor();
    await connections.getByRole('button', { name: 'Show more connections' }).click();
    await connections.getByText('Last key', { exact: true }).waitFor();
    await connections.getByRole('heading', { name: /2$/ }).waitFor();
  });

  it('finds a task once, by its words and by its id', async () => {
    const work = new Work();
    await work.begin('Once');
    const id = await work.task('Named by its id');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/tasks?workspace=${work.workspace}`);
    const { page } = visit;
    await page.getByRole('link', { name: 'Named by its id' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find' }).fill(id);
    const found = page.getByRole('listbox', { name: 'What was found' }).getByRole('option');
    await found.filter({ hasText: 'Named by its id' }).waitFor();
    assert.equal(await found.count(), 1);
  });

  it('keeps the other screens where one cannot be drawn', async () => {
    const work = new Work();
    await work.begin('Broken');
    visit = await Visit.open(browser);
    const { page } = visit;
    await page.route('**/assets/Metrics-*.js', (route) =>
      route.fulfill({
        contentType: 'text/javascript',
        body: 'export function Metrics() { throw new Error("This screen is broken."); }',
      }),
    );
    await visit.signIn(ada, `/metrics?workspace=${work.workspace}`);
    await page.getByRole('alert').filter({ hasText: 'This screen cannot be shown.' }).waitFor();
    await page.getByRole('link', { name: 'Needs you' }).click();
    await page.getByText('Broken').waitFor();
    await page.getByRole('link', { name: 'Metrics' }).click();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').filter({ hasText: 'This screen cannot be shown.' }).waitFor();
    const others = visit.complaints.filter((text) => !text.startsWith('Error: This screen is broken.'));
    visit.complaints.splice(0, visit.complaints.length, ...others);
  });
});
