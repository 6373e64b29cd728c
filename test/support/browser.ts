/** A headless Chromium, and the accessibility barriers that axe-core finds in a page. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Frame, type Page } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** Chromium's own network requests are off; it loads only what its pages request. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Timeout for a function's cold start and response on a busy machine. */
const PATIENCE_MS = 60_000;

/** Starts a browser with an empty profile; the caller closes it. `MUSTER_CHROMIUM` is the path of its executable. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath(),
    args: FLAGS,
    chromiumSandbox: process.getuid?.() !== 0, // The sandbox does not run as root.
  });
}

/** A browser window with its own cookies and storage, in English, with timeouts for a busy machine. */
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
    `No Chromium ${found === undefined ? 'was found' : `is at ${found}`}: install Debian's package chromium, or name another by MUSTER_CHROMIUM.`,
  );
}

interface Violation {
  /** Rule id of axe-core. */
  readonly id: string;
  /** CSS selectors of the elements. */
  readonly targets: readonly string[];
  readonly help: string;
}

/** Off by default in axe-core; its other rules are those of earlier WCAG versions. */
const OPTIONS = JSON.stringify({ rules: { 'target-size': { enabled: true } } });

/** Returns the violations in the page and its frames. Bypasses the page's content security policy. */
export async function axeViolations(page: Page | Frame): Promise<readonly Violation[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(`axe.run(document, ${OPTIONS}).then((results) => results.violations)`);
  if (!Array.isArray(found)) throw new Error('axe-core answered no list of violations.');
  return found.map(({ id, help, nodes }) => ({
    id,
    help,
    targets: nodes.map((node: { readonly target: unknown }) => String(node.target)),
  }));
}
