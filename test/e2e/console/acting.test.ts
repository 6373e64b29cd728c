/** What a person does from the lists of the console: to several tasks at once, to what things may cost, by models. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { openBrowser } from '../../support/browser.ts';
import { newPerson } from '../support/people.ts';
import { eventually } from '../support/waiting.ts';
import { type Account, seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

/** What a tool answers to the page waits until it is released. */
async function holdAnswers(page: Page, method: string): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/mcp/rpc*', async (route) => {
    if (!(route.request().postData() ?? '').includes(method)) return await route.fallback();
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  });
  return release;
}

describe('the console, acting', () => {
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

  it('cancels the tasks that were chosen, by the keyboard and by the mouse, and no other', async () => {
    const work = new Work();
    await work.begin('Several at once');
    const ids = [await work.task('First'), await work.task('Second'), await work.task('Third')];
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/tasks?workspace=${work.workspace}`);
    const { page } = visit;
    await page.getByRole('link', { name: 'First' }).focus();
    await page.keyboard.press('x');
    await page.getByRole('checkbox', { name: `Choose ${ids[2]}` }).check();
    await page.getByRole('checkbox', { name: 'Only mine' }).check();
    await page.getByRole('link', { name: 'Second' }).waitFor();
    const chosen = page.getByRole('region', { name: 'The chosen tasks' });
    await chosen.getByText('2 chosen').waitFor();
    await chosen.getByRole('button', { name: 'Cancel 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel 2' });
    await dialog.getByText('2 tasks are cancelled').waitFor();
    await dialog.getByRole('button', { name: 'Cancel 2' }).click();
    await page.getByRole('button', { name: 'Cancelled 2' }).waitFor();
    await chosen.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('link', { name: 'Second' }).count(), 1);
    await page.getByRole('button', { name: 'Cancelled 2' }).click();
    await page.getByRole('checkbox', { name: `Choose ${ids[0]}` }).check();
    await chosen.getByRole('button', { name: 'Try 1 again' }).click();
    await page.getByRole('button', { name: 'Open 2' }).waitFor();
  });

  it('says how many of the chosen were refused, and leaves those chosen', async () => {
    const work = new Work();
    await work.begin('Refused');
    const [first, second] = [await work.task('Urgent', { priority: 2 }), await work.task('Gone')];
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/tasks?workspace=${work.workspace}`);
    const { page } = visit;
    await page.route('**/mcp/rpc*', async (route) => {
      const body = route.request().postData() ?? '';
      const isOf = body.includes('update_task') && body.includes(second);
      await (isOf ? route.continue({ postData: body.replaceAll(second, 'task-nobody') }) : route.continue());
    });
    await page.getByRole('checkbox', { name: `Choose ${first}` }).check();
    await page.getByRole('checkbox', { name: `Choose ${second}` }).check();
    await page.getByRole('button', { name: 'More urgent' }).click();
    await page.getByRole('alert').filter({ hasText: '1 of 2 were refused.' }).waitFor();
    await page.getByText('1 chosen').waitFor();
    assert.equal(await page.getByRole('checkbox', { name: `Choose ${second}` }).isChecked(), true);
  });

  it('limits what a task may cost, and takes the limit away', async () => {
    const work = new Work();
    await work.begin('Money');
    const id = await work.task('Cheaply');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/t/${id}?workspace=${work.workspace}`);
    const { page } = visit;
    const amount = page.getByLabel('May cost, in US dollars');
    await amount.fill('a lot');
    assert.equal(await page.getByRole('button', { name: 'Set the limit' }).isDisabled(), true);
    await amount.fill('2.5');
    await page.getByRole('button', { name: 'Set the limit' }).click();
    await page.getByText('At most $2.50 for the task').waitFor();
    await amount.fill('');
    await page.getByRole('button', { name: 'Set the limit' }).click();
    await page.getByText('At most $2.50 for the task').waitFor({ state: 'detached' });
  });

  it('shows what agents found out, and explains what may be done with a path', async () => {
    const work = new Work();
    await work.begin('Look around');
    const id = await work.task('Explore');
    assert.equal(await work.claim(), id);
    await work.find(id, 'The export has two date formats.', ['dates']);
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/?workspace=${work.workspace}`);
    const { page } = visit;
    const found = page.getByRole('region', { name: 'Found out' });
    await found.getByText('The export has two date formats.').waitFor();
    await found.getByText('dates', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Access' }).click();
    const why = page.getByRole('region', { name: 'Why may I, or may I not?' });
    await why.getByRole('combobox', { name: 'Of', exact: true }).selectOption('firestore');
    await why.getByRole('combobox', { name: 'To', exact: true }).selectOption('write');
    await why.getByLabel('Path').fill(`tasks/${id}`);
    await why.getByRole('button', { name: 'Explain' }).click();
    await why.getByText('Refused.').waitFor();
  });

  it('changes a to-do on its own page, is reminded of it, and has agents do it', async () => {
    const work = new Work();
    await work.begin('Whatever is to do');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/todos?show=all&workspace=${work.workspace}`);
    const { page } = visit;
    const title = `Write the notes ${work.workspace}`;
    await page.getByLabel('What is to do').fill(title);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('link', { name: title }).click();
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByLabel('Title').fill(`${title} whole`);
    await page.getByLabel('Due').fill('2099-03-04T09:30');
    await page.getByLabel('Tags').fill('writing, release');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: `${title} whole` }).waitFor();
    assert.equal(await page.getByLabel('Due').inputValue(), '2099-03-04T09:30');
    assert.equal(await page.getByRole('combobox', { name: 'Priority' }).inputValue(), 'MEDIUM');
    assert.equal(await page.getByLabel('Tags').inputValue(), 'writing, release');
    const reminder = page.getByRole('region', { name: 'Reminder' });
    await reminder.getByText('You are reminded').waitFor();
    await reminder.getByRole('button', { name: 'Not at all' }).click();
    await reminder.getByText('None is set.').waitFor();
    await reminder.getByLabel('Remind me at').fill('2099-03-01T08:00');
    await reminder.getByRole('button', { name: 'Set the reminder' }).click();
    await reminder.getByRole('button', { name: 'In an hour instead' }).click();
    await reminder.getByText('You are reminded in').waitFor();
    await page.getByRole('button', { name: 'Have agents do it' }).click();
    await page.getByRole('link', { name: /^task-/ }).click();
    await page.getByRole('heading', { name: `${title} whole` }).waitFor();
    await page
      .getByRole('region', { name: 'What it belongs to, and may cost' })
      .getByText('to-do', { exact: true })
      .waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'To-dos' }).waitFor();
  });

  it('reads when something is due from its words, and says so before it is added', async () => {
    const work = new Work();
    visit = await Visit.open(browser);
    await visit.signIn(ada, '/todos?show=all');
    const { page } = visit;
    const title = `Mow ${work.workspace}`;
    await page.getByLabel('What is to do').fill(`${title} in 3 days 9:15`);
    await page.getByText('as “in 3 days 9:15” says').waitFor();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const row = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: title, exact: true }) });
    await row.getByText('09:15').waitFor();
    await page.getByLabel('What is to do').fill(`${title} song tomorrow`);
    await page.getByRole('button', { name: 'That is no date' }).click();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('link', { name: `${title} song tomorrow`, exact: true }).waitFor();
  });

  it('leaves what is typed while a to-do is being added', async () => {
    const work = new Work();
    visit = await Visit.open(browser);
    await visit.signIn(ada, '/todos?show=all');
    const { page } = visit;
    const [title, due] = [page.getByLabel('What is to do'), page.getByLabel('Due', { exact: true })];
    const release = await holdAnswers(page, 'todo.add_task');
    await title.fill(`First of ${work.workspace}`);
    await due.fill('2099-03-01T08:00');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('link', { name: `First of ${work.workspace}`, exact: true }).waitFor();
    await title.fill(`Second of ${work.workspace}`);
    release();
    // What belonged to the first is emptied, which says that it is over.
    await eventually('the answer has come', async () => (await due.inputValue()) === '' || undefined);
    assert.equal(await title.inputValue(), `Second of ${work.workspace}`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('link', { name: `Second of ${work.workspace}`, exact: true }).waitFor();
    await eventually('it is empty', async () => (await title.inputValue()) === '' || undefined);
  });

  it('keeps what a person prefers, and takes no nonsense', async () => {
    const person = await newPerson();
    visit = await Visit.open(browser);
    await visit.signIn(person, '/preferences');
    const { page } = visit;
    const minutes = page.getByLabel('Minutes before');
    assert.equal(await minutes.inputValue(), '60');
    await minutes.fill('soon');
    assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);
    await minutes.fill('15');
    await page.getByRole('checkbox', { name: 'By mail' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually('it is stored', async () => {
      const stored = (await firestore().doc(`preferences/${person.uid}`).get()).data();
      return stored?.['reminder_lead_minutes'] === 15 && stored['email'] === true ? stored : undefined;
    });
  });

  it('asks models, and shows the steps of that on the line of its time', async () => {
    const work = new Work();
    await work.begin('Ask');
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/runs?workspace=${work.workspace}`);
    const { page } = visit;
    await page.getByLabel('What to do').fill(`Say which index a query needs. ${randomUUID()}`);
    await page.getByLabel('How').selectOption('direct');
    await page.getByLabel('May cost, in US dollars').fill('0.5');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('heading', { name: /Say which index/ }).waitFor();
    await page
      .getByText(/begun after .+, took/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Runs' }).first().click();
    await page.getByRole('link', { name: /Say which index/ }).waitFor();
  });
});
