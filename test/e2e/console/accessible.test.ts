/** Everybody can use the console: on each screen, full, empty and refused, in light and dark, whatever their language. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { tellStory } from '../../../emulator-data/story.ts';
import { LANGUAGES } from '../../../functions/src/signin/http/texts.ts';
import { axeViolations, openBrowser } from '../../support/browser.ts';
import { IS_NIGHT } from '../../support/night.ts';
import { newPerson, setRole, signUp, type TestPerson } from '../support/people.ts';
import { Visit } from './support/visit.ts';

/** The widest and the narrowest, in light and in dark. */
const LOOKS = [
  [1280, 'light'],
  [390, 'dark'],
  [1280, 'dark'],
  [390, 'light'],
] as const;

/** By day each place has one look, and each of two looks half of the places. */
const DAYS_LOOKS = 2;

const LISTS = ['', 'tasks', 'todos', 'runs', 'agents', 'access', 'audit', 'metrics', 'preferences'];

/** Elements that hide a part of their own text, without a way to read the rest. */
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

/** Whose dates and numbers are longest. */
const LONGEST = ['de'];

describe('the console, for everybody', () => {
  let browser: Browser;
  let person: TestPerson;
  /** Has a role, and none in the workspaces of the test. */
  let stranger: TestPerson;
  /** Has no role at all. */
  let nobody: TestPerson;
  const [full, empty] = [`full-${randomUUID().slice(0, 8)}`, `empty-${randomUUID().slice(0, 8)}`];

  before(async () => {
    browser = await openBrowser();
    [person, stranger, nobody] = await Promise.all([newPerson(), newPerson(), signUp()]);
    await setRole(person.uid, 'admin');
    await tellStory({ workspace: full, ownerUid: person.uid });
  });
  after(() => browser?.close());

  async function settled(page: Page): Promise<void> {
    await page.locator('main h1').first().waitFor();
    await page.locator('.loading').first().waitFor({ state: 'detached' });
  }

  /** Signs in, and looks at each place as it has come to rest. */
  async function everywhere(
    who: TestPerson,
    settings: Parameters<typeof Visit.open>[1],
    workspace: string,
    places: readonly string[],
    look: (page: Page, path: string) => Promise<void>,
  ): Promise<void> {
    const visit = await Visit.open(browser, settings);
    await visit.signIn(who, `/?workspace=${workspace}`);
    for (const path of places) {
      await visit.follow(`/${path}${path.includes('?') ? '&' : '?'}workspace=${workspace}`);
      await settled(visit.page);
      await look(visit.page, path);
    }
    await visit.close();
    assert.deepEqual(visit.complaints, []);
  }

  const clean = async (page: Page, path: string) => {
    assert.deepEqual(await axeViolations(page), [], path);
    const [width, room] = await Promise.all([
      page.evaluate('document.documentElement.scrollWidth'),
      page.evaluate('innerWidth'),
    ]);
    assert.ok(Number(width) <= Number(room), `${path} is ${width} px wide, of ${room}`);
    assert.deepEqual(await page.evaluate(CUT), [], path);
  };

  /** Its lists, and what the first of each leads to. */
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

  for (const [index, [width, colorScheme]] of LOOKS.entries()) {
    if (!IS_NIGHT && index >= DAYS_LOOKS) continue;
    const settings = { viewport: { width, height: 900 }, colorScheme };
    const its = (places: readonly string[]) =>
      places.filter((_, place) => IS_NIGHT || place % DAYS_LOOKS === index);

    it(`has no barrier where there is much to see (${width} px, ${colorScheme})`, async () => {
      const visit = await Visit.open(browser, settings);
      await visit.signIn(person, `/?workspace=${full}`);
      const pages = await placesOf(visit);
      await visit.close();
      const views = ['tasks?view=board', 'tasks?view=graph', 'tasks?show=failed', 'todos?show=all'];
      await everywhere(person, settings, full, its([...LISTS, ...views, ...pages]), clean);
    });

    it(`has none where there is nothing, or nothing that may be seen (${width} px, ${colorScheme})`, async () => {
      const nothing = ['t/nothing', 'r/nothing', 'd/nothing', 'nowhere'];
      await everywhere(person, settings, empty, its([...LISTS, ...nothing]), clean);
      await everywhere(stranger, settings, full, its(LISTS), clean);
      await everywhere(nobody, settings, full, its(LISTS), clean);
    });
  }

  it('has no barrier where one signs in', async () => {
    const visit = await Visit.open(browser);
    await visit.page.goto(process.env['MUSTER_CONSOLE_URL'] ?? '');
    await visit.page.getByLabel('E-mail').waitFor();
    assert.deepEqual(await axeViolations(visit.page), []);
    await visit.close();
  });

  it('says what it is not allowed to show, and what cannot be reached', async () => {
    const visit = await Visit.open(browser);
    await visit.signIn(stranger, `/tasks?workspace=${full}`);
    await visit.page.getByText('You may not see this.').first().waitFor();
    await visit.page.route('**/mcp/rpc*', (route) => route.abort());
    await visit.follow(`/access?workspace=${full}`);
    await visit.page.getByRole('alert').filter({ hasText: 'The server has not answered' }).waitFor();
    assert.deepEqual(await axeViolations(visit.page), []);
    await visit.close();
  });

  it('moves nothing for people who want nothing to move', async () => {
    const settings = { reducedMotion: 'reduce' } as const;
    await everywhere(person, settings, full, LISTS, async (page, path) => {
      assert.deepEqual(await page.evaluate(MOVING), [], path);
    });
  });

  for (const locale of IS_NIGHT ? LANGUAGES : LONGEST)
    it(`cuts nothing off with dates and numbers as in ${locale}`, async () => {
      const settings = { locale, viewport: { width: 390, height: 844 } };
      const places = ['', 'tasks', 'todos?show=all', 'runs', 'audit'];
      await everywhere(person, settings, full, places, async (page, path) => {
        assert.deepEqual(await page.evaluate(CUT), [], path);
        const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
        assert.ok(width <= 390, `${path} is ${width} px wide`);
      });
    });

  it('counts a lease down by the clock of the page, and says when it has lapsed', async () => {
    const visit = await Visit.open(browser);
    await visit.page.clock.install();
    await visit.signIn(person, `/tasks?workspace=${full}`);
    const row = visit.page.getByRole('row').filter({ hasText: 'Add a button that downloads' });
    await row.getByText(/^(4\d|5\d) min left$/).waitFor();
    // Not run through, in which the SDK would connect anew a hundred times: as if the lid had been closed meanwhile.
    await visit.page.clock.fastForward('30:00');
    await row.getByText(/^(1\d|2\d) min left$/).waitFor();
    await visit.page.clock.fastForward('40:00');
    await row.getByText(/^lapsed .* ago$/).waitFor();
    await visit.close();
  });
});
