/** Opens a headless Chromium, and checks pages for accessibility problems with axe-core. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Frame, type Page } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** Flags that turn off Chromium's own network requests, so that only pages make requests. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Timeout that allows for the cold start of a function and its response on a busy machine. */
const PATIENCE_MS = 60_000;

/** Starts Chromium with an empty profile. `MUSTER_CHROMIUM` overrides its path. The caller must close the browser. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath(),
    args: FLAGS,
    chromiumSandbox: process.getuid?.() !== 0, // Chromium's sandbox does not start for the root user.
  });
}

/** Opens a browser window with its own cookies and storage, in English, with a timeout for busy machines. */
export async function openWindow(
  browser: Browser,
  settings: Parameters<Browser['newContext']>[0] = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', ...settings });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

function browserPath(): string {
  const named = process.env['MUSTER_CHROMIUM'];
  const found = named === undefined || named === '' ? PLACES.find((path) => existsSync(path)) : named;
  if (found !== undefined && existsSync(found)) return found;
  throw new Error(
    `No Chromium ${found === undefined ? 'was found' : `is at ${found}`}. Install the Debian package chromium, or set MUSTER_CHROMIUM to the path of a Chromium.`,
  );
}

interface Violation {
  /** Id of the violated axe-core rule. */
  readonly id: string;
  /** CSS selectors of the elements that violate the rule. */
  readonly targets: readonly string[];
  readonly help: string;
}

/** Adds the rule for the size of targets, which axe-core does not check by default. */
const OPTIONS = JSON.stringify({ rules: { 'target-size': { enabled: true } } });

/** Returns the rule violations in the page and its frames, even if the page has a content security policy. */
export async function axeViolations(page: Page | Frame): Promise<readonly Violation[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(`axe.run(document, ${OPTIONS}).then((results) => results.violations)`);
  if (!Array.isArray(found)) throw new Error('axe-core did not return a list of violations.');
  return found.map(({ id, help, nodes }) => ({
    id,
    help,
    targets: nodes.map((node: { readonly target: unknown }) => String(node.target)),
  }));
}
