/** A real browser, and what it finds in a page that some people could not use. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Frame, type Page } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** It asks nobody on the network for anything but what its pages ask for. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** As long as a machine with many other tests may take to start a process of a function and to answer. */
const PATIENCE_MILLISECONDS = 60_000;

/** A browser that knows nothing yet; whoever opens it closes it. `MUSTER_CHROMIUM` says where it is elsewhere. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath(),
    args: FLAGS,
    chromiumSandbox: process.getuid?.() !== 0, // which does not run for root
  });
}

/** A window of the browser with cookies and storage of its own, in English. Its waits are those of a busy machine. */
export async function openWindow(
  browser: Browser,
  settings: Parameters<Browser['newContext']>[0] = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', ...settings });
  context.setDefaultTimeout(PATIENCE_MILLISECONDS);
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
  /** The rule of axe-core. */
  readonly id: string;
  /** Where: CSS selectors. */
  readonly targets: readonly string[];
  readonly help: string;
}

/** Off by default in axe-core: its other rules are those of earlier versions of WCAG. */
const OPTIONS = JSON.stringify({ rules: { 'target-size': { enabled: true } } });

/** What axe-core says against the page, or a frame in it, as it is now. A page's content security policy does not hold for it. */
export async function axeViolations(page: Page | Frame): Promise<readonly Violation[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    `axe.run(document, ${OPTIONS}).then((results) => results.violations)`,
  );
  if (!Array.isArray(found)) throw new Error('axe-core answered no list of violations.');
  return found.map(({ id, help, nodes }) => ({
    id,
    help,
    targets: nodes.map((node: { readonly target: unknown }) => String(node.target)),
  }));
}
