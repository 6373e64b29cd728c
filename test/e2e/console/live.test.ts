/** Features of the console that need real databases: sign-in, live changes, and links of the task graph. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { axeViolations, openBrowser } from '../../support/browser.ts';
import { type Account, CONSOLE_URL, seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

describe('the console', () => {
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

  it('reports a wrong password; the sign-in page has no accessibility violations', async () => {
    visit = await Visit.open(browser);
    const { page } = visit;
    await page.goto(CONSOLE_URL);
    await page.getByLabel('Email', { exact: true }).fill(ada.email);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Wrong email or password.').waitFor();
    assert.equal(await page.locator('#main').count(), 0);
    assert.deepEqual(await axeViolations(page), []);
    // The browser itself logs the expected response with the status 400.
    const others = visit.complaints.filter((text) => !text.includes('400'));
    visit.complaints.splice(0, visit.complaints.length, ...others);
  });

  it('adds no to-do without its date, but reports that the code that reads dates did not load', async () => {
    visit = await Visit.open(browser);
    const { page } = visit;
    await visit.signIn(ada, '/todos');
    await page.route('**/words-*.js', (route) => route.abort());
    const title = page.getByLabel('New to-do');
    await title.fill('Mow the lawn tomorrow');
    await title.press('Enter');
    await page.getByText('The code that reads dates didn’t load. Reload the page.').waitFor();
    assert.equal(await title.inputValue(), 'Mow the lawn tomorrow');
    const others = visit.complaints.filter((text) => !text.includes('ERR_FAILED'));
    visit.complaints.splice(0, visit.complaints.length, ...others);
  });

  it('shows new tasks immediately, even after a network outage, with one listener per query', async () => {
    const work = new Work();
    await work.begin('Quick');
    await work.task('Before');
    visit = await Visit.open(browser);
    const { page, listening } = visit;
    await visit.signIn(ada, `/tasks?workspace=${work.workspace}`);
    await page.getByRole('link', { name: 'Before' }).waitFor();
    await work.task('Live');
    await page.getByRole('link', { name: 'Live' }).waitFor();
    // If the page had a second listener for some data, the listener's request would have been sent by now.
    assert.ok(listening.asked.length > 2);
    assert.deepEqual(listening.asked.toSorted(), [...new Set(listening.asked)].sort());
    assert.ok(await listening.end());
    await work.task('While it was left');
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    await page.getByRole('link', { name: 'While it was left' }).waitFor();
    await visit.context.setOffline(true);
    await work.task('Out of reach');
    await visit.context.setOffline(false);
    await page.getByRole('link', { name: 'Out of reach' }).waitFor();
    assert.equal(await page.getByRole('link', { name: /^(Before|Live|While|Out)/ }).count(), 4);
    visit.complaints.length = 0; // The browser logs failed requests while offline.
  });

  it('lets a person move from task to task in the task graph with the arrow keys', async () => {
    const work = new Work();
    await work.begin('Find');
    const first = await work.task('Dig the well');
    const second = await work.task('Draw the water', { dependencies: [first] });
    visit = await Visit.open(browser);
    await visit.signIn(ada, `/tasks?view=graph&workspace=${work.workspace}`);
    const next = visit.page.getByRole('link', { name: /^Draw the water/ });
    await next.waitFor();
    await visit.page.getByRole('link', { name: /^Dig the well/ }).focus();
    await visit.page.keyboard.press('ArrowRight');
    // The page moves the focus with its next frame.
    await next.and(visit.page.locator(':focus')).waitFor();
    await visit.page.keyboard.press('Enter');
    await visit.page.waitForURL(new RegExp(`/t/${second}`));
  });
});
