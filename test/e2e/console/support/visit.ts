/** A person at the console in their own browser, with the browser's errors. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { seedPeople } from '../../../../emulator-data/import.ts';
import { openWindow } from '../../../support/browser.ts';
import { Listening } from './listening.ts';

export const CONSOLE_URL = required('MUSTER_CONSOLE_URL');

function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined || value === '') throw new Error(`${variable} is not set: run "npm test -- e2e".`);
  return value;
}

/** An account with the seed's password, or the test's own. */
export interface Account {
  readonly email: string;
  readonly password: string;
}

export async function seededAccount(name: string): Promise<Account> {
  const found = (await seedPeople()).find((person) => person.name === name);
  assert.ok(found, `nobody seeded is called ${name}`);
  return found;
}

type Settings = Parameters<typeof openWindow>[1];

export class Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors in the browser's console, and requests to other hosts. */
  readonly complaints: string[] = [];
  /** Requested addresses, except for the page's own files. */
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

  /** Signs in with the form, and opens a path of the page. */
  async signIn({ email, password }: Account, path = '/'): Promise<void> {
    await this.page.goto(`${CONSOLE_URL}${path}`);
    await this.page.getByLabel('E-mail').fill(email);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await this.page.locator('header').waitFor();
  }

  /** Navigates without a page load, like the page's links. */
  async follow(path: string): Promise<void> {
    const leading = `Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} })`;
    await this.page.evaluate(`{ const link = ${leading}; document.body.append(link); link.click(); link.remove(); }`);
  }

  /**
   * Dispatches "pagehide" and waits until the page has removed its listeners: Firestore's emulator otherwise keeps
   * sending every write to the listeners of closed pages.
   */
  async close(): Promise<void> {
    await this.listening.end();
    await this.context.close();
  }
}
