/** People see the work live and steer it: the console in a real browser, against the emulators. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { axeViolations, openBrowser } from '../../support/browser.ts';
import { IS_NIGHT } from '../../support/night.ts';
import { type Account, seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

describe('the console', () => {
  let browser: Browser;
  let ada: Account;
  let ben: Account;
  let visit: Visit;

  before(async () => {
    browser = await openBrowser();
    ada = await seededAccount('Ada Person');
    ben = await seededAccount('Ben Person');
  });
  after(() => browser?.close());
  afterEach(async () => {
    await visit?.close();
    assert.deepEqual(visit?.complaints ?? [], []);
  });

  it('refuses a wrong password in words, and lets nobody see anything before that', async () => {
    visit = await Visit.open(browser);
    await visit.page.goto(process.env['MUSTER_CONSOLE_URL'] ?? '');
    await visit.page.getByLabel('E-mail').fill(ada.email);
    await visit.page.getByLabel('Password').fill('wrong');
    await visit.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await visit.page.getByText('Address and password do not belong together.').waitFor();
    assert.equal(await visit.page.locator('header').count(), 0);
    // The browser itself says that a request was answered with 400.
    visit.complaints.splice(
      0,
      visit.complaints.length,
      ...visit.complaints.filter((text) => !text.includes('400')),
    );
  });

  it('shows what needs one, and what a person answers there reaches who asked', async () => {
    const work = new Work();
    await work.begin('Ship the import');
    const first = await work.task('Parse the statements', { priority: 1 });
    await work.task('Match them to invoices', { dependencies: [first] });
    assert.equal(await work.claim(), first);
    const asked = await work.call('worker1', 'inbox.ask', {
      question: `Which dates in ${work.workspace}?`,
      kind: 'choice',
      options: ['As Excel', 'Always 20xx'],
      task_id: first,
    });
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/?workspace=${work.workspace}`);
    const question = visit.page.getByRole('article').filter({ hasText: `Which dates in ${work.workspace}?` });
    await question.getByRole('button', { name: 'Always 20xx' }).click();
    await question.waitFor({ state: 'detached' });
    const told = await work.call('worker1', 'inbox.wait', {
      request_id: (asked as { request_id: string }).request_id,
    });
    assert.equal((told as { answer: string }).answer, 'Always 20xx');
    await visit.page.getByText('Ship the import').waitFor();
    await visit.page.getByText('0 of 2 tasks done').waitFor();
    await work.fail(first, 'The schema is missing.');
    const trouble = visit.page.getByRole('region', { name: 'Does not go on' });
    await trouble.getByText('The schema is missing.').waitFor();
    await trouble.getByText('will never start').waitFor();
  });

  it('retries and cancels what a person chooses, and says what that means first', async () => {
    const work = new Work();
    await work.begin('Steer');
    const failed = await work.task('Fails once', { priority: 1 });
    assert.equal(await work.claim(), failed);
    await work.fail(failed, 'Not today.');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/t/${failed}?workspace=${work.workspace}`);
    await visit.page.getByRole('button', { name: 'Try it again' }).click();
    await visit.page.getByText('Nobody has claimed it.').waitFor();
    await visit.page.getByRole('button', { name: 'Cancel this task' }).click();
    const dialog = visit.page.getByRole('dialog');
    await dialog.getByText('It is cancelled').waitFor();
    await dialog.getByRole('button', { name: 'Cancel this task' }).click();
    await visit.page.locator('.sentence .status.cancelled').waitFor();
  });

  it('shows each task that a tool creates, and sends no request while nothing changes', async () => {
    const work = new Work();
    await work.begin('Quick');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/tasks?view=board&workspace=${work.workspace}`);
    await visit.page.getByRole('region', { name: 'Board' }).waitFor();
    for (let number = 1; number <= 20; number++) {
      const id = await work.task(`Quick ${number}.`, { priority: 5 });
      await visit.page.locator(`a[href*="${id}"]`).waitFor({ state: 'attached' });
    }
    // The page polls nothing, so the tasks above came through its listeners.
    visit.requests.length = 0;
    await visit.page.waitForTimeout(IS_NIGHT ? 60_000 : 8000);
    assert.deepEqual(visit.requests, []);
  });

  it('says that it is out of reach, and shows nothing twice when it is back', async () => {
    const work = new Work();
    await work.begin('Away');
    await work.task('Before');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/tasks?workspace=${work.workspace}`);
    await visit.page.getByRole('link', { name: 'Before' }).waitFor();
    await visit.context.setOffline(true);
    await work.task('Meanwhile');
    await visit.context.setOffline(false);
    await visit.page.getByRole('link', { name: 'Meanwhile' }).waitFor();
    assert.equal(await visit.page.getByRole('link', { name: /^(Before|Meanwhile)$/ }).count(), 2);
    visit.complaints.length = 0; // the browser says that requests failed while it was away
  });

  it('shows another person nothing that is not theirs', async () => {
    const work = new Work();
    await work.begin('Between us');
    const id = await work.task('Hidden from Ben');
    visit = await Visit.open(browser);
    await visit.signIn(ben, `/?workspace=${work.workspace}`);
    await visit.page.getByText('You may not see this.').first().waitFor();
    await visit.follow(`/t/${id}?workspace=${work.workspace}`);
    await visit.page.getByText('You may not see this.').waitFor();
    assert.doesNotMatch(await visit.page.locator('body').innerText(), /Between us|Hidden from Ben/);
    visit.complaints.length = 0; // Firebase's SDK warns of each refusal
  });

  it('takes back what an agent has done, from its audit', async () => {
    const work = new Work();
    await work.begin('Back');
    const id = await work.task('Made by mistake');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/audit?of=workspace&workspace=${work.workspace}`);
    const entry = visit.page.getByRole('listitem').filter({ hasText: 'coordination.create_task' }).first();
    await entry.getByText(id).first().waitFor();
    await entry.getByRole('button', { name: 'Take it back' }).click();
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Take it back' }).click();
    await visit.page.getByText(`As before: task ${id}`).waitFor();
    await entry.getByText('taken back', { exact: true }).waitFor();
  });

  it('keeps a person’s day: adds a to-do, completes it, and takes that back', async () => {
    const title = `Water the office plants ${randomUUID().slice(0, 8)}`;
    visit = await Visit.open(browser);
    await visit.signIn(ben, '/todos?show=all');
    await visit.page.getByLabel('What is to do').fill(title);
    await visit.page.getByRole('button', { name: 'Add' }).click();
    const todo = visit.page.getByRole('listitem').filter({ hasText: title });
    await todo.getByRole('button', { name: 'Done' }).click();
    await visit.page.getByRole('region', { name: 'Done today' }).getByText(title).waitFor();
    await visit.page.getByRole('button', { name: 'Undo' }).click();
    await todo.getByRole('button', { name: 'Done' }).waitFor();
    await todo.getByRole('button', { name: 'Delete' }).click();
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await todo.waitFor({ state: 'detached' });
  });

  it('writes to the agent that holds a task, and takes the task from it', async () => {
    const work = new Work();
    await work.begin('Held');
    const id = await work.task('Held by somebody');
    await work.claim();
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/t/${id}?workspace=${work.workspace}`);
    await visit.page.getByLabel(/^Write to worker1-/).fill('Mind the leap years.');
    await visit.page.getByRole('button', { name: 'Send' }).click();
    await visit.page.getByText('Sent.').waitFor();
    assert.deepEqual(await work.messagesTo(id), ['Mind the leap years.']);
    assert.equal(await visit.page.title(), `Task ${id} · Muster`);
    await visit.page.getByRole('button', { name: 'Take it from its holder' }).click();
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Take it from its holder' }).click();
    await visit.page.getByText('Nobody has claimed it.').waitFor();
  });

  it('says what comes again in words, and when next', async () => {
    visit = await Visit.open(browser);
    await visit.signIn(ada, '/todos');
    const standup = visit.page.getByRole('listitem').filter({ hasText: 'Daily standup' });
    await standup.getByText(/every day at .*, Europe\/Berlin; now \w+.*(, \w+ \d+ \w+){3}$/).waitFor();
  });

  it('shows a role that is taken away as what it is, and one that is given at once', async () => {
    const work = new Work();
    await work.begin('Come and go');
    await work.task('In the open');
    visit = await Visit.open(browser);
    await visit.signIn(ben, `/tasks?workspace=${work.workspace}`);
    await visit.page.getByText('You may not see this.').waitFor();
    await work.call('person', 'access.set_member', { email: ben.email, role: 'viewer' });
    await visit.page.getByRole('link', { name: 'In the open' }).waitFor();
    const { uid } = await work.whoIs(ben);
    await work.call('person', 'access.remove_member', { uid });
    await visit.page.getByText('You may not see this.').waitFor();
    assert.doesNotMatch(await visit.page.locator('main').innerText(), /In the open/);
    visit.complaints.length = 0; // Firebase's SDK warns of each refusal
  });

  it('says why somebody may not, and who can change it', async () => {
    visit = await Visit.open(browser);
    await visit.signIn(ben, '/access');
    await visit.page.getByLabel('Tool', { exact: true }).fill('access_invite');
    await visit.page.getByRole('button', { name: 'Explain' }).click();
    await visit.page.getByText('Refused.').waitFor();
    await visit.page.getByText('It needs').waitFor();
    visit.complaints.length = 0; // Ben may not list the members either
  });

  it('leads everywhere by keyboard', async () => {
    const work = new Work();
    await work.begin('Keys');
    const id = await work.task('By keys');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/?workspace=${work.workspace}`);
    await visit.page.getByText('Keys').waitFor();
    await visit.page.keyboard.press('g');
    await visit.page.keyboard.press('t');
    await visit.page.getByRole('link', { name: 'By keys' }).focus();
    await visit.page.keyboard.press('k');
    await visit.page.keyboard.press('Enter');
    await visit.page.getByRole('heading', { name: 'By keys' }).waitFor();
    assert.match(visit.page.url(), new RegExp(`/t/${id}\\?workspace=${work.workspace}`));
  });

  it('finds a task by its words, and draws what waits for what', async () => {
    const work = new Work();
    await work.begin('Find');
    const first = await work.task('Dig the well');
    const second = await work.task('Draw the water', { dependencies: [first] });
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/?workspace=${work.workspace}`);
    await visit.page.getByText('0 of 2 tasks done').waitFor();
    await visit.page.keyboard.press('Control+k');
    await visit.page.getByRole('combobox', { name: 'Find' }).fill('the water');
    await visit.page.getByRole('option', { name: 'Draw the water' }).waitFor();
    assert.deepEqual(await axeViolations(visit.page), []);
    await visit.page.keyboard.press('Enter');
    await visit.page.getByRole('heading', { name: 'Draw the water' }).waitFor();
    await visit.follow(`/tasks?view=graph&workspace=${work.workspace}`);
    await visit.page.getByRole('link', { name: 'Dig the well available' }).focus();
    await visit.page.keyboard.press('ArrowRight');
    await visit.page.keyboard.press('Enter');
    await visit.page.waitForURL(new RegExp(`/t/${second}`));
  });
});
