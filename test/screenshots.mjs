// @ts-check
/**
 * npm run screenshots                  writes the screenshots for README and guides to docs/screenshots
 * npm run screenshots -- --all FOLDER  writes every page, from 390 to 1,920 pixels wide, light and dark, to FOLDER
 *
 * `npm start` must be running and just started, because the screenshots show its unchanged sample data.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { root } from '../scripts/project.mjs';
import { installTestLibraries } from '../scripts/setup/install.mjs';
import { parsedOrUsage } from '../scripts/setup/usage.mjs';

const usage = `npm run screenshots                    screenshots for the documentation; npm start must be running
npm run screenshots -- --all <folder>  every page, at four widths, in light and dark`;

const BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
];

const { all } = parsedOrUsage(usage, { options: { all: { type: 'string' } } }).values;
const endpoint = `${root}/.dev/endpoint.json`;
const executablePath = process.env.MUSTER_CHROMIUM || BROWSERS.find((path) => existsSync(path));
if (!existsSync(endpoint)) fail('Muster is not running. Start it in another terminal: npm start');
if (executablePath === undefined) fail('Chromium not found. On Debian: apt-get install chromium');

await installTestLibraries({ env: process.env, say: (message) => console.error(message) });
const { chromium } = await import('playwright-core');
const { consoleUrl } = JSON.parse(readFileSync(endpoint, 'utf8'));
const browser = await chromium.launch({
  executablePath: String(executablePath),
  args: ['--disable-dev-shm-usage'],
  chromiumSandbox: process.getuid?.() !== 0, // Chromium's sandbox does not start for the root user.
});

/** `first`: text of the link to click on the page. @type {Record<string, { path: string, first?: RegExp }>} */
const screens = {
  'needs-you': { path: '/' },
  tasks: { path: '/tasks' },
  board: { path: '/tasks?view=board' },
  graph: { path: '/tasks?view=graph' },
  task: { path: '/tasks', first: /Add a button/ },
  failed: { path: '/tasks?show=failed', first: /Move the old/ },
  todos: { path: '/todos?show=all' },
  todo: { path: '/todos?show=all', first: /translated/ },
  runs: { path: '/runs' },
  run: { path: '/runs', first: /Which columns/ },
  agents: { path: '/agents' },
  agent: { path: '/agents', first: /builder/ },
  access: { path: '/access' },
  audit: { path: '/audit' },
  metrics: { path: '/metrics' },
  preferences: { path: '/preferences' },
};

/** Screenshots for the documents. @type {readonly [name: string, width: number, scheme: 'light' | 'dark'][]} */
const shown = [
  ['needs-you', 1280, 'light'],
  ['tasks', 1280, 'light'],
  ['graph', 1280, 'dark'],
  ['task', 1280, 'light'],
  ['todos', 390, 'light'],
  ['run', 1280, 'light'],
];

try {
  if (all === undefined)
    for (const [name, width, scheme] of shown) await take([name], width, scheme, `${root}/docs/screenshots`);
  else
    for (const width of [390, 768, 1280, 1920])
      for (const scheme of /** @type {const} */ (['light', 'dark']))
        await take(Object.keys(screens), width, scheme, all);
} finally {
  await browser.close();
}

/**
 * @param {readonly string[]} names @param {number} width @param {'light' | 'dark'} colorScheme
 * @param {string} folder
 */
async function take(names, width, colorScheme, folder) {
  const context = await browser.newContext({
    colorScheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    viewport: { width, height: width < 500 ? 844 : 800 },
  });
  const page = await context.newPage();
  mkdirSync(folder, { recursive: true });
  const picture = (/** @type {string} */ name) =>
    `${folder}/${name}${all === undefined ? '' : `-${width}-${colorScheme}`}.png`;
  await page.goto(consoleUrl);
  await page.getByRole('button', { name: 'Continue as Ada Person' }).waitFor();
  if (all !== undefined) await page.screenshot({ path: picture('sign-in') });
  await page.getByRole('button', { name: 'Continue as Ada Person' }).click();
  await page.locator('.app').waitFor();
  for (const name of names) {
    const { path = '/', first } = screens[name] ?? {};
    await page.goto(new URL(path, consoleUrl).href);
    if (first !== undefined) await page.getByRole('link', { name: first }).first().click();
    await page.locator('main h1').first().waitFor();
    await settled(page);
    await page.screenshot({ path: picture(name), fullPage: all !== undefined });
  }
  await context.close();
}

/** Waits until the page has loaded and its text is stable. @param {import('playwright-core').Page} page */
async function settled(page) {
  for (let before = ''; ; ) {
    const output = (await page.locator('main').innerText()).replace(/\d+/g, '');
    const isLoading = (await page.locator('main .bone').count()) > 0;
    if (!isLoading && output === before) return;
    before = output;
    await page.waitForTimeout(400);
  }
}

/** @param {string} why @returns {never} */
function fail(why) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
