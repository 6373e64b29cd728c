/** The console without a mouse: every action works with the keyboard, and the focus is always visible. */
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../support/browser.ts';
import { type Account, CONSOLE_URL, seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

/** Browser expression: the accessible name of the focused element, and whether its focus is visible. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const label = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent ?? '';
  return { label: label.trim(), isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
})()`;

const MAX_STOPS = 120;
const PATIENCE_MS = 15_000;

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  // The last action may create the element only after some key presses, so the search continues for a while.
  const until = performance.now() + PATIENCE_MS;
  for (let stop = 0; stop < MAX_STOPS || performance.now() < until; stop += 1) {
    await page.keyboard.press('Tab');
    const { label, isSeen } = Object(await page.evaluate(FOCUSED));
    if (name.test(label)) {
      assert.ok(isSeen, `The focus of “${label}” is not visible.`);
      return;
    }
    passed.push(label.slice(0, 30));
  }
  assert.fail(`Tab does not reach ${name}, only to ${[...new Set(passed)].join(' | ')}`);
}

describe('the console', () => {
  let browser: Browser;
  let ada: Account;

  before(async () => {
    browser = await openBrowser();
    ada = await seededAccount('Ada Person');
  });
  after(() => browser?.close());

  it('supports sign-in, navigation, answers, task actions and sign-out with only the keyboard', async () => {
    const work = new Work();
    await work.begin('Without a mouse');
    const first = await work.task('Answer by keys', { priority: 1 });
    await work.task('Cancel by keys', { priority: 2 });
    assert.equal(await work.claim(), first);
    const question = `Left or right in ${work.workspace}?`;
    const asked = { question, kind: 'choice', options: [`Left ${work.workspace}`, 'Right'], task_id: first };
    await work.call('worker1', 'inbox.ask', asked);
    const visit = await Visit.open(browser);
    const { page } = visit;
    const { keyboard } = page;
    await page.goto(`${CONSOLE_URL}/?workspace=${work.workspace}`);
    await page.getByLabel('Email', { exact: true }).waitFor();
    await tabTo(page, /^Email$/);
    await keyboard.type(ada.email);
    await tabTo(page, /^Password/);
    await keyboard.type(ada.password);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();

    await page.locator('main').getByText(question).waitFor();
    await tabTo(page, new RegExp(`^Left ${work.workspace}`));
    await keyboard.press('Enter');
    await page.getByText(`Answered “Left ${work.workspace}”`).waitFor();

    for (const [key, heading] of [
      ['t', 'Tasks'],
      ['d', 'To-dos'],
      ['r', 'Runs'],
      ['a', 'Agents'],
      ['c', 'Access'],
      ['u', 'Audit log'],
      ['m', 'Metrics'],
      ['p', 'Preferences'],
      ['n', 'Needs you'],
    ] as const) {
      await page.locator('body').evaluate('document.activeElement.blur()');
      await keyboard.press('g');
      await keyboard.press(key);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    }

    await keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Search/ }).waitFor();
    await keyboard.type('Cancel by keys');
    await page.getByRole('option', { name: /^Cancel by keys/ }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cancel by keys' }).waitFor();
    await tabTo(page, /^More actions$/);
    await keyboard.press('Enter');
    await tabTo(page, /^Cancel task…$/);
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Cancel “Cancel by keys”?' }).waitFor();
    await tabTo(page, /^Cancel task$/);
    await keyboard.press('Enter');
    await tabTo(page, /^Retry$/);
    await keyboard.press('Enter');
    await page.getByText('Ready for any agent.').waitFor();

    const title = `By keys ${work.workspace}`;
    await page.locator('body').evaluate('document.activeElement.blur()');
    await keyboard.press('g');
    await keyboard.press('d');
    await page.getByRole('heading', { level: 1, name: 'To-dos' }).waitFor();
    await tabTo(page, /^All$/);
    await keyboard.press('Enter');
    await tabTo(page, /^New to-do/);
    await keyboard.type(`${title} tomorrow`);
    await keyboard.press('Enter');
    await page.getByRole('link', { name: title, exact: true }).waitFor();
    await tabTo(page, new RegExp(`^${title}$`));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: title }).waitFor();
    await tabTo(page, /^Mark done$/);
    await keyboard.press('Enter');
    await tabTo(page, /^Reopen$/);
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Mark done', exact: true }).waitFor();

    await tabTo(page, /^A?Ada Person/);
    await keyboard.press('Enter');
    await tabTo(page, /^Sign out/);
    await keyboard.press('Enter');
    await page.getByLabel('Email', { exact: true }).waitFor();
    assert.deepEqual(visit.complaints, []);
    await visit.close();
  });
});
