/** The console with more of everything than a first page holds: each list states its whole number and continues. */
import assert from 'node:assert/strict';
import type { Browser, Locator, Page } from 'playwright-core';
import { openBrowser } from '../../support/browser.ts';
import { newWorkspace } from '../support/endpoint.ts';
import { newPerson, setRole, type TestPerson } from '../support/people.ts';
import { eventually } from '../support/waiting.ts';
import { type Sizes, seedLarge } from './support/large.ts';
import { Visit } from './support/visit.ts';

/** Each number is slightly above the first page of its list. */
const SIZES: Sizes = {
  available: 230,
  blocked: 210,
  held: 210,
  done: 60,
  failed: 55,
  agents: 110,
  online: 30,
  due: 210,
  undated: 220,
  completed: 55,
  members: 105,
  connections: 115,
  runs: 55,
  questions: 55,
  discoveries: 25,
  worked: 30,
};
const OPEN = SIZES.available + SIZES.blocked + SIZES.held;

/** Windows in CSS pixels. A window of 1,280 by 1,024 px at 400 % zoom has 320 by 256 of them. */
const WINDOWS = [
  { width: 1920, height: 1080 },
  { width: 1280, height: 900 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
  { width: 320, height: 256 },
];
const LISTS = [
  '',
  'tasks',
  'todos?show=all',
  'runs',
  'agents',
  'access',
  'audit?of=workspace',
  'metrics',
  'preferences',
];
const VIEWS = ['tasks?view=board', 'tasks?view=graph', 'tasks?show=done'];

/** Browser expression that finds buttons and links whose words are so narrow that they break within a word. */
const BROKEN = `[...document.querySelectorAll('main :is(button, a, h1, h2):not(svg *)')].filter((one) => {
  const longest = Math.max(...one.innerText.split(/\\s/).map((word) => word.length));
  const { width, height } = one.getBoundingClientRect();
  return longest > 3 && width > 0 && width < 24 && height > 40;
}).map((one) => one.outerHTML.slice(0, 120))`;

/** Browser expression for the number of bars that stay in the window while the page scrolls. */
const BARS = `['.top', '.tabs'].filter((bar) => getComputedStyle(document.querySelector(bar)).position !== 'static').length`;

describe('the console with large lists', () => {
  const workspace = newWorkspace('large');
  let browser: Browser;
  let ada: TestPerson;
  let visit: Visit;
  let page: Page;

  before(async () => {
    ada = await newPerson();
    await setRole(ada.uid, 'admin');
    [browser] = await Promise.all([openBrowser(), seedLarge(workspace, ada.uid, SIZES)]);
    visit = await Visit.open(browser, { reducedMotion: 'reduce' });
    page = visit.page;
    await visit.signIn(ada, place(''));
  });
  after(async () => {
    await visit?.close();
    await browser?.close();
  });
  afterEach(() => assert.deepEqual(visit?.complaints ?? [], []));

  const place = (path: string) => `/${path}${path.includes('?') ? '&' : '?'}workspace=${workspace}`;
  const section = (name: string) => page.getByRole('region', { name, exact: true });
  const more = (what: string, within: Page | Locator = page.locator('main')) =>
    within.getByRole('button', { name: `Show more ${what}`, exact: true }).last();
  const link = (name: string) => page.locator('main').getByRole('link', { name, exact: true });

  /** Presses the button for more until it disappears. */
  async function toEnd(button: Locator): Promise<void> {
    await button.waitFor();
    await eventually('the list is loaded completely', async () => {
      if ((await button.count()) === 0) return true;
      // The button can disappear before the click.
      await button.click({ timeout: 1000 }).catch(() => undefined);
      return undefined;
    });
  }

  /** Scrolls the last row of a list into view, because rows have their content only near the visible part. */
  async function endsWith(rows: Locator, text: string | RegExp): Promise<void> {
    await eventually(`the last row is ${text}`, async () => {
      await rows
        .last()
        .scrollIntoViewIfNeeded({ timeout: 1000 })
        .catch(() => undefined);
      return (await rows.last().filter({ hasText: text }).count()) === 1 || undefined;
    });
  }

  it('counts tasks with the counters, and shows the last task after all tasks are loaded', async () => {
    await visit.follow(place('tasks'));
    await page.getByRole('button', { name: new RegExp(`^Open\\s*${OPEN}$`) }).waitFor();
    await page.getByText(`600 of ${OPEN}`).waitFor();
    const rows = page.locator('table.tasks tbody tr:not(.gap)');
    const ready = page.locator('tr.group').filter({ hasText: `Ready${SIZES.available}` });
    // The number can come after the group was scrolled past, so the search starts again at the top.
    const onward = 'scrollY + innerHeight < document.body.scrollHeight - 1 ? scrollBy(0, 500) : scrollTo(0, 0)';
    await eventually('the group of ready tasks has its whole number', async () => {
      if ((await ready.count()) === 1) return true;
      await page.evaluate(onward);
      return undefined;
    });
    await toEnd(more('tasks'));
    await endsWith(rows, `Move the blocked customer ${SIZES.blocked}`);
    await visit.follow(place('tasks?show=done'));
    await page.getByText(`50 of ${SIZES.done}`).waitFor();
    await toEnd(more('tasks'));
    await endsWith(rows, `Move the done customer ${SIZES.done}`);
  });

  it('lets the keyboard move through a large table and select its rows', async () => {
    await visit.follow(place('tasks'));
    await link('Move the held customer 1').focus();
    const rows = 40;
    for (let row = 0; row < rows; row += 1) await page.keyboard.press('j');
    const focused = `document.activeElement.textContent`;
    assert.match(String(await page.evaluate(focused)), /^Move the held customer \d+$/);
    assert.notEqual(await page.evaluate(focused), 'Move the held customer 1');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).click();
    await page.getByText('600 selected').waitFor();
    await page.getByRole('button', { name: 'Clear selection' }).click();
  });

  it('has separate lists of held and of blocked tasks on the board, with their numbers and ends', async () => {
    await visit.follow(place('tasks?view=board'));
    for (const [column, count, last] of [
      ['Blocked', SIZES.blocked, 'Move the blocked customer'],
      ['Ready', SIZES.available, 'Move the available customer'],
      ['Closed', SIZES.done + SIZES.failed, 'Move the done customer'],
    ] as const) {
      await section(column).getByText(String(count), { exact: true }).waitFor();
      await toEnd(more('tasks', section(column)));
      await endsWith(section(column).getByRole('listitem'), last);
      assert.equal(await section(column).getByRole('listitem').count(), count);
    }
    await toEnd(more('tasks', section('In progress')));
    await section('In progress')
      .getByText(String((SIZES.held * 9) / 10), { exact: true })
      .waitFor();
  });

  it('moves the view of the task graph with the focus', async () => {
    await visit.follow(place('tasks?view=graph'));
    await link('Move the available customer 1 Ready').focus();
    for (const _ of Array.from({ length: 12 })) await page.keyboard.press('ArrowDown');
    const isInside = `(() => {
      const [one, all] = [document.activeElement, document.querySelector('.canvas')].map((at) => at.getBoundingClientRect());
      return document.activeElement.matches('.node') && one.top >= all.top && one.bottom <= all.bottom;
    })()`;
    await eventually('the focused task is visible', async () => (await page.evaluate(isInside)) || undefined);
  });

  it('reaches the last agent, run, discovery, member, connection and event', async () => {
    await visit.follow(place('agents'));
    await page.getByText(`100 of ${SIZES.agents}`).waitFor();
    await toEnd(more('agents'));
    await endsWith(page.locator('table.agents tbody tr'), `Mover ${SIZES.agents} of`);
    await visit.follow(place('runs'));
    await page.getByText(`50 of ${SIZES.runs}`).waitFor();
    await toEnd(more('runs'));
    await endsWith(page.locator('table tbody tr'), `group ${SIZES.runs}`);
    await visit.follow(place('access'));
    await page.getByText(`100 of ${SIZES.members}`).waitFor();
    await toEnd(more('members'));
    assert.equal(await section('Members').getByRole('listitem').count(), SIZES.members);
    const connections = section('Agents and apps that act for you');
    await connections.getByText('20+', { exact: true }).waitFor();
    await toEnd(more('agents and apps that act for you'));
    await connections.getByText(String(SIZES.connections), { exact: true }).waitFor();
    await endsWith(connections.getByRole('listitem'), 'App');
    await visit.follow(place('audit?of=workspace'));
    await page.locator('.log-line').first().waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).focus();
    const agents = page.getByRole('combobox', { name: 'Agent' }).getByRole('option');
    await eventually('all agents can be chosen', async () => (await agents.count()) === SIZES.agents + 1 || undefined);
    await toEnd(page.getByRole('button', { name: 'Load older' }));
    assert.equal(await page.locator('.log-line').count(), 2 * SIZES.worked);
    await visit.follow(place(''));
    await page.getByText(`20 of ${SIZES.discoveries}`).waitFor();
    await toEnd(more('discoveries'));
    await endsWith(section('Discoveries').getByRole('listitem'), `Customer ${SIZES.discoveries} `);
    await toEnd(more('questions'));
    await page.getByText(`Which address is right for customer ${SIZES.questions}?`).waitFor();
  });

  it('reaches the last to-do, and moves a to-do to another day by dragging it', async () => {
    await visit.follow(place('todos?show=all'));
    await page.getByText(`200 of ${SIZES.due}`).waitFor();
    await page.getByText(`200 of ${SIZES.undated}`).waitFor();
    const days = page.locator('main .card.rows > section');
    await toEnd(more('to-dos', days.nth(-2)));
    await toEnd(more('to-dos', days.last()));
    await endsWith(days.last().getByRole('listitem'), `undated customer ${SIZES.undated}`);
    const [first, second] = [days.first(), days.nth(1)];
    const count = (day: Locator) => day.locator('h2 .count').innerText();
    const [from, to] = [Number(await count(first)), Number(await count(second))];
    await page.evaluate('scrollTo(0, 0)');
    await page.setViewportSize({ width: 1280, height: 1600 });
    const title = 'Call the due customer 1';
    await drag(
      first.getByRole('listitem').filter({ has: page.getByRole('link', { name: title, exact: true }) }),
      second.getByRole('heading'),
    );
    await second.getByRole('link', { name: title, exact: true }).waitFor();
    assert.deepEqual([await count(first), await count(second)], [String(from - 1), String(to + 1)]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await first.getByRole('link', { name: title, exact: true }).waitFor();
  });

  /** Drags with a real mouse. The first moves start the drag. */
  async function drag(what: Locator, where: Locator): Promise<void> {
    const [from, to] = [await what.boundingBox(), await where.boundingBox()];
    assert.ok(from && to);
    await page.mouse.move(from.x + from.width / 2, from.y + 5);
    await page.mouse.down();
    await page.mouse.move(from.x + from.width / 2, from.y + 15, { steps: 5 });
    await page.mouse.move(to.x + 100, to.y + 10, { steps: 10 });
    await page.mouse.up();
  }

  it('fits every screen into narrow and wide windows, and into one at 400 % zoom', async () => {
    const items = [`t/task-${workspace}-held-0`, `a/${workspace}-agent-0`, `d/todo-${workspace}-due-0`];
    for (const path of [...LISTS, ...VIEWS, ...items]) {
      await visit.follow(place(path));
      await page.locator('main h1').first().waitFor();
      await page.locator('main .bone').first().waitFor({ state: 'detached' });
      for (const size of WINDOWS) {
        await page.setViewportSize(size);
        const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
        assert.ok(width <= size.width, `/${path} is ${width} px wide, of ${size.width}`);
        if (size.height < 320) assert.equal(await page.evaluate(BARS), 0, 'bars cover the page');
        assert.deepEqual(await page.evaluate(BROKEN), [], `/${path} at ${size.width} px`);
      }
    }
  });
});
