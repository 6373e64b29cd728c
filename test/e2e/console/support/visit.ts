/** A person who uses the console in a separate browser window. Records the browser's errors. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { seedPeople } from '../../../../emulator-data/import.ts';
import { openWindow } from '../../../support/browser.ts';
import { required } from '../../support/endpoint.ts';
import { Listening } from './listening.ts';

export const CONSOLE_URL = required('MUSTER_CONSOLE_URL');

/** Account of a person, who is seeded or created by the test. */
export interface Account {
  readonly email: string;
  readonly password: string;
}

export async function seededAccount(name: string): Promise<Account> {
  const found = (await seedPeople()).find((person) => person.name === name);
  assert.ok(found, `no seeded person has the name ${name}`);
  return found;
}

type Settings = Parameters<typeof openWindow>[1];

export class Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the browser's console, and requests to other hosts. */
  readonly complaints: string[] = [];
  /** Methods and paths of requests, except requests for the console's own files. */
  readonly requests: string[] = [];
  readonly listening: Listening;

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    this.listening = new Listening(page);
  }

  static async open(browser: Browser, settings: Settings = {}): Promise<Visit> {
    const context = await openWindow(browser, { viewport: { width: 1280, height: 900 }, ...settings });
    const page = await context.newPage();
    const visit = new Visit(context, page);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) visit.complaints.push(message.text());
    });
    page.on('pageerror', (error) => visit.complaints.push(error.message));
    page.on('dialog', (dialog) => visit.complaints.push(`a dialog: ${dialog.message()}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.hostname !== '127.0.0.1') visit.complaints.push(`asked ${url}`);
      if (url.origin !== CONSOLE_URL) visit.requests.push(`${request.method()} ${url.pathname}`);
    });
    return visit;
  }

  /** Signs in with the form, and opens the path. */
  async signIn({ email, password }: Account, path = '/'): Promise<void> {
    await this.page.goto(`${CONSOLE_URL}${path}`);
    await this.page.getByLabel('Email', { exact: true }).fill(email);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await this.page.locator('#main').waitFor();
  }

  /** Navigates to the path without a page load, like a link of the page. */
  async follow(path: string): Promise<void> {
    const leading = `Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} })`;
    await this.page.evaluate(`{ const link = ${leading}; document.body.append(link); link.click(); link.remove(); }`);
  }

  /**
   * Dispatches "pagehide", and waits until the page has removed its listeners. Otherwise, Firestore's emulator would
   * continue to send every write to the listeners of closed pages.
   */
  async close(): Promise<void> {
    await this.listening.end();
    await this.context.close();
  }
}

/** Returns the workspaces of the switch's links. @param links selector of the links within the switch's menu */
export function workspacesIn({ page }: Visit, links: string): Promise<readonly string[]> {
  const addresses = page.locator(`.side .switch ${links}`);
  return addresses.evaluateAll((all) =>
    all.map((link) => new URLSearchParams(link.getAttribute('href')?.split('?')[1]).get('workspace') ?? 'default'),
  );
}
