/** Checks the console's screens with axe, with data and without, in two color schemes and two widths. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { createSampleData } from '../../../emulator-data/sampleData.ts';
import { LANGUAGES } from '../../../functions/src/signin/http/texts.ts';
import { axeViolations, openBrowser } from '../../support/browser.ts';
import { defaultOrNightly, IS_NIGHTLY } from '../../support/nightly.ts';
import { newPerson, setRole, signUp, type TestPerson } from '../support/people.ts';
import { Visit } from './support/visit.ts';

/** Setting of a browser whose user prefers reduced motion. */
const STILL = { reducedMotion: 'reduce' } as const;
const NARROW = { viewport: { width: 390, height: 844 }, ...STILL } as const;

/** Combinations of window size, color scheme and language. The nightly run has every language. */
const LOOKS = [
  { viewport: { width: 1280, height: 900 }, colorScheme: 'light', locale: 'en-GB', ...STILL },
  { ...NARROW, colorScheme: 'dark', locale: 'de' },
  ...defaultOrNightly([], { night: LANGUAGES.map((locale) => ({ ...NARROW, colorScheme: 'light', locale }) as const) }),
] as const;

const LISTS = ['', 'tasks', 'todos', 'runs', 'agents', 'access', 'audit', 'metrics', 'preferences'];

/** Browser expression that finds elements with truncated text but without a tooltip that shows the whole text. */
const CUT = `[...document.querySelectorAll('body *')].filter((one) => {
  const style = getComputedStyle(one);
  const hasText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const hides = ['hidden', 'clip'].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
  return hasText && hides && style.clipPath === 'none' && one.title === '' && one.closest('[title]') === null;
}).map((one) => one.outerHTML.slice(0, 120))`;

const MOVING = `[...document.querySelectorAll('*')].filter((one) => {
  const { transitionDuration, animationName } = getComputedStyle(one);
  return animationName !== 'none' || transitionDuration.split(', ').some((time) => parseFloat(time) > 0.001);
}).map((one) => one.outerHTML.slice(0, 120))`;

describe('the console', () => {
  let browser: Browser;
  let person: TestPerson;
  /** A person with a role in the deployment, but none in the test's workspaces. */
  let stranger: TestPerson;
  /** A person without any role. */
  let nobody: TestPerson;
  const [full, empty] = [`full-${randomUUID().slice(0, 8)}`, `empty-${randomUUID().slice(0, 8)}`];

  before(async () => {
    browser = await openBrowser();
    [person, stranger, nobody] = await Promise.all([newPerson(), newPerson(), signUp()]);
    await setRole(person.uid, 'admin');
    await createSampleData({ workspace: full, ownerUid: person.uid });
  });
  after(() => browser?.close());

  async function settled(page: Page): Promise<void> {
    await page.locator('main h1').first().waitFor();
    await page.locator('main .bone').first().waitFor({ state: 'detached' });
  }

  /** Signs a person in, and opens and checks each page in the given workspace. */
  async function everywhere(
    who: TestPerson,
    settings: Parameters<typeof Visit.open>[1],
    workspace: string,
    places: readonly string[],
  ): Promise<void> {
    const visit = await Visit.open(browser, settings);
    await visit.signIn(who, `/?workspace=${workspace}`);
    for (const path of places) {
      await visit.follow(`/${path}${path.includes('?') ? '&' : '?'}workspace=${workspace}`);
      await settled(visit.page);
      await assertClean(visit.page, path);
    }
    await visit.close();
    assert.deepEqual(visit.complaints, []);
  }

  async function assertClean(page: Page, path: string): Promise<void> {
    assert.deepEqual(await axeViolations(page), [], path);
    const [width, room] = await Promise.all([
      page.evaluate('document.documentElement.scrollWidth'),
      page.evaluate('innerWidth'),
    ]);
    assert.ok(Number(width) <= Number(room), `${path} is ${width} px wide, of ${room}`);
    assert.deepEqual(await page.evaluate(CUT), [], path);
    assert.deepEqual(await page.evaluate(MOVING), [], path);
  }

  /** Returns the paths of pages for single items: the first item in each list of the console. */
  async function placesOf(visit: Visit): Promise<readonly string[]> {
    const found: string[] = [];
    for (const [list, kind] of [
      ['tasks', 't'],
      ['tasks?show=failed', 't'],
      ['todos?show=all', 'd'],
      ['runs', 'r'],
      ['agents', 'a'],
    ] as const) {
      await visit.follow(`/${list}${list.includes('?') ? '&' : '?'}workspace=${full}`);
      const link = visit.page.locator(`main a[href^="/${kind}/"]`).first();
      const path = new URL((await link.getAttribute('href')) ?? '', 'http://console').pathname;
      found.push(path.slice(1));
    }
    return found;
  }

  for (const [index, settings] of LOOKS.entries()) {
    /** Returns the pages to check in this look. The default run checks each page in one of two looks. */
    const its = (places: readonly string[]) => places.filter((_, place) => IS_NIGHTLY || place % 2 === index);
    const look = `${settings.viewport.width} px, ${settings.colorScheme}, ${settings.locale}`;

    it(`has no accessibility violations on screens that show data (${look})`, async () => {
      const visit = await Visit.open(browser, settings);
      await visit.signIn(person, `/?workspace=${full}`);
      const pages = await placesOf(visit);
      await visit.close();
      const views = ['tasks?view=board', 'tasks?view=graph', 'tasks?show=failed', 'todos?show=all'];
      await everywhere(person, settings, full, its([...LISTS, ...views, ...pages]));
    });

    it(`has no accessibility violations on screens without data or access (${look})`, async () => {
      const nothing = ['t/nothing', 'r/nothing', 'd/nothing', 'nowhere'];
      await everywhere(person, settings, empty, its([...(IS_NIGHTLY ? LISTS : []), ...nothing]));
      await everywhere(stranger, settings, full, IS_NIGHTLY ? LISTS : its(['', 'tasks']));
      if (IS_NIGHTLY) await everywhere(nobody, settings, full, LISTS);
    });
  }

  it('shows messages if a person has no access, and if the server is unreachable', async () => {
    const visit = await Visit.open(browser);
    await visit.signIn(stranger, `/tasks?workspace=${full}`);
    await visit.page.getByText('You don’t have access to this').first().waitFor();
    await visit.page.route('**/mcp/rpc*', (route) => route.abort());
    await visit.follow(`/access?workspace=${full}`);
    await visit.page.getByRole('alert').filter({ hasText: 'The server didn’t answer' }).first().waitFor();
    assert.deepEqual(await axeViolations(visit.page), []);
    await visit.close();
  });
});
