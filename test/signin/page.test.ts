/** The sign-in page in a real browser, with the Auth emulator. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';
import { axeViolations, openBrowser, openWindow } from '../support/browser.ts';
import { close, listen } from '../support/listening.ts';
import { linkTo } from '../support/signInMail.ts';
import { App, call } from './support/app.ts';
import { Deployment, PASSWORD, type Someone } from './support/deployment.ts';
import { idTokenOf } from './support/visitor.ts';

const PHONE = { width: 390, height: 844 };

describe('the sign-in page', () => {
  let deployment: Deployment;
  let ada: Someone;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let callback: Server;
  let redirect: string;
  let app: App;
  let complaints: string[];

  before(async () => {
    deployment = await Deployment.start();
    ada = await deployment.person('Ada', 'leader');
    browser = await openBrowser();
    callback = createServer((_request, response) => response.end('Back in the app.'));
    redirect = `${await listen(callback)}/callback`;
    app = await App.registered(deployment, 'Pencil', '', redirect);
  });
  after(async () => {
    await browser?.close();
    await deployment?.stop();
    await close(callback);
  });

  async function open(settings: Parameters<typeof openWindow>[1] = {}): Promise<void> {
    context = await openWindow(browser, settings);
    page = await context.newPage();
    complaints = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
    page.on('request', (request) => {
      if (new URL(request.url()).hostname !== '127.0.0.1') complaints.push(`asked ${request.url()}`);
    });
  }
  afterEach(() => context?.close());

  async function signIn({ email }: Someone): Promise<void> {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  }

  /** Waits until the browser is redirected to the app, and returns the URL of the redirect. */
  async function back(): Promise<URL> {
    await page.waitForURL((url) => url.href.startsWith(redirect));
    return new URL(page.url());
  }

  it('signs a person in by email and password, and grants the app what the person selects', async () => {
    await open();
    const started = await app.begin();
    await page.goto(started.url.href);
    const text = await page.locator('main').innerText();
    assert.match(text, /Pencil/);
    assert.match(text, /unverified app/i);
    await signIn(ada);
    assert.match(await page.locator('main').innerText(), new RegExp(`Ada.*${ada.email}`, 's'));
    for (const toolset of ['Manage your to-dos', 'Use GitHub', 'Work on tasks'])
      assert.ok(await page.getByRole('checkbox', { name: new RegExp(`^${toolset}`) }).isChecked());
    const access = page.getByRole('checkbox', { name: /^Manage access/ });
    assert.equal(await access.isChecked(), false);
    assert.equal(await page.getByLabel('Role', { exact: true }).inputValue(), 'worker');
    await access.check();
    await page.getByRole('checkbox', { name: /^Use GitHub/ }).uncheck();
    await page.getByRole('checkbox', { name: 'Read only' }).check();
    await page.getByRole('button', { name: 'Allow' }).click();
    const { access_token, scope } = await app.redeem(await back(), started, redirect);
    assert.equal(scope, 'muster:read');
    const { result } = await call(deployment, access_token, 'access.whoami');
    const { limits } = z.object({ limits: z.looseObject({ toolsets: z.array(z.string()) }) }).parse(result);
    assert.ok(limits.toolsets.includes('todo') && !limits.toolsets.includes('github'));
    assert.deepEqual(complaints, []);
  });

  it('redirects to the app with an error if the person cancels', async () => {
    await open();
    const started = await app.begin();
    await page.goto(started.url.href);
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await back()).searchParams.get('error'), 'access_denied');
    assert.deepEqual(complaints, []);
  });

  it('explains sign-in errors without revealing which accounts exist', async () => {
    await open();
    await page.goto((await app.begin()).url.href);
    const reported: string[] = [];
    for (const email of [ada.email, 'nobody@example.com']) {
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      const alert = page.getByRole('alert').filter({ hasText: /\w/ });
      await alert.waitFor();
      reported.push(await alert.innerText());
      await page.locator('main[aria-busy="false"]').waitFor();
    }
    assert.equal(reported[0], reported[1]);
  });

  it('signs in an invited person without an account by an email link', async () => {
    const workspace = `guild-${ada.uid}`;
    const inviting = await idTokenOf(ada);
    const email = `new-${ada.uid}@example.com`;
    for (const [method, params] of [
      ['access.create_workspace', { name: workspace }],
      ['access.invite', { workspace, email, role: 'worker' }],
    ] as const)
      assert.ok((await call(deployment, inviting, method, params)).result);
    await open();
    const started = await app.begin();
    await page.goto(started.url.href);
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: /link/i }).click();
    await page.getByText('Check your inbox').waitFor();
    await page.goto(await linkTo(email));
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    assert.ok(!page.url().includes('oobCode'), 'the address must not contain the code');
    await page.getByRole('checkbox', { name: /^Manage access/ }).check();
    await page.getByRole('button', { name: 'Allow' }).click();
    const { access_token } = await app.redeem(await back(), started, redirect);
    const { result } = await call(deployment, access_token, 'access.whoami');
    assert.equal(result?.['this_call'], workspace);
    assert.deepEqual(complaints, []);
  });

  it('can be used with only a keyboard', async () => {
    await open();
    const started = await app.begin();
    await page.goto(started.url.href);
    await reach('Email');
    await page.keyboard.type(ada.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await page.locator('main[aria-busy="false"]').waitFor();
    await reach('Read only');
    await page.keyboard.press('Space');
    await reach('Allow');
    await page.keyboard.press('Enter');
    assert.equal((await app.redeem(await back(), started, redirect)).scope, 'muster:read');
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`is accessible on a phone in ${colorScheme} mode, before and after the sign-in`, async () => {
      await open({ colorScheme, viewport: PHONE });
      const opened = await app.begin();
      await page.goto(opened.url.href);
      await check('signing in');
      await signIn(ada);
      await check('choosing');
      opened.url.searchParams.set('client_id', 'client_unknown');
      await page.goto(opened.url.href);
      await check('a problem');
    });

  it('is available in the seven languages of the welcome', async () => {
    const output = new Set<string>();
    for (const locale of ['en-US', 'es-MX', 'fr-FR', 'de-AT', 'pt-BR', 'zh-CN', 'ja-JP']) {
      await open({ locale, viewport: PHONE });
      await page.goto((await app.begin()).url.href);
      assert.equal(await page.locator('html').getAttribute('lang'), locale.slice(0, 2));
      output.add(await page.locator('main').innerText());
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), locale);
      await context.close();
    }
    assert.equal(output.size, 7);
  });

  it('cannot be shown in a frame of another page', async () => {
    await open();
    const started = await app.begin();
    await page.goto(redirect);
    await page.setContent(`<iframe src="${started.url.href.replaceAll('&', '&amp;')}"></iframe>`);
    assert.ok(
      complaints.some((complaint) => /frame/i.test(complaint)),
      complaints.join('\n'),
    );
    for (const frame of page.frames()) assert.equal(await frame.getByLabel('Email').count(), 0);
  });

  it('stores no token where another script or person could find it', async () => {
    await open();
    await page.goto((await app.begin()).url.href);
    await signIn(ada);
    const kept: unknown = await page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, document.documentElement.outerHTML, location.href])',
    );
    assert.ok(!/eyJ[\w-]{10,}\./.test(String(kept)));
    const cookies = await context.cookies();
    assert.ok(cookies.every(({ httpOnly, secure, sameSite }) => httpOnly && secure && sameSite === 'Lax'));
  });

  /** Presses Tab until the element with this name has the focus. */
  async function reach(name: string): Promise<void> {
    for (let steps = 0; steps < 40; steps++) {
      const focused: unknown = await page.evaluate(
        "(document.activeElement?.labels?.[0]?.innerText ?? document.activeElement?.innerText ?? '').trim()",
      );
      if (String(focused).startsWith(name)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not reach "${name}"`);
  }

  async function check(what: string): Promise<void> {
    assert.deepEqual(await axeViolations(page), [], what);
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${what} is too wide`);
  }
});
