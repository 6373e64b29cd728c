/**
 * Push messages in Chromium, under the headers of a deployment: the page registers the service worker and requests a
 * token from Firebase Cloud Messaging, and the service worker shows messages. Google's services are replaced.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname } from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { z } from 'zod';
import { root } from '../../scripts/project.mjs';
import { buildConsole } from '../../scripts/setup/console.mjs';
import { eventually } from '../e2e/support/waiting.ts';
import { openBrowser } from '../support/browser.ts';
import { close, listen } from '../support/listening.ts';

const hosting = z.object({
  hosting: z.object({
    headers: z.array(z.object({ headers: z.array(z.object({ key: z.string(), value: z.string() })) })),
  }),
});

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

const SETTINGS = {
  apiKey: 'key',
  projectId: 'demo-muster',
  databaseURL: 'https://demo-muster-default-rtdb.firebaseio.com',
  appId: '1:2:web:3',
  messagingSenderId: '2',
};

/** Public key of a Web Push certificate. Nothing checks it, because the subscription is replaced. */
const KEY = 'BKey-of_the-tests_01';

const bytes = (length: number): string => `new Uint8Array(${length}).buffer`;

/** Replaces the subscription, for which a browser asks the push service of its vendor. */
const SUBSCRIPTION = `PushManager.prototype.subscribe = async () => {
  return { endpoint: 'https://push.example/1', getKey: (name) => (name === 'auth' ? ${bytes(16)} : ${bytes(65)}) };
}`;

const shown = z.array(z.object({ title: z.string(), tag: z.string(), link: z.string() }));

describe('push messages in a browser', () => {
  const folder = mkdtempSync(`${tmpdir()}/muster-console-`);
  const [{ headers } = assert.fail()] = hosting.parse(JSON.parse(readFileSync(`${root}/firebase.json`, 'utf8'))).hosting
    .headers;
  const server = createServer(({ url = '/' }, response) => {
    for (const { key, value } of headers) response.setHeader(key, value);
    if (url === '/__/firebase/init.json') return response.end(JSON.stringify(SETTINGS));
    const file = `${folder}${url !== '/' && existsSync(`${folder}${url}`) ? url : '/index.html'}`;
    return response.setHeader('content-type', TYPES[extname(file)] ?? '').end(readFileSync(file));
  });
  let origin: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  before(async () => {
    await buildConsole('production', { node: process.execPath, env: {}, target: folder });
    origin = await listen(server);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await close(server);
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    context = await browser.newContext();
    await context.grantPermissions(['notifications'], { origin });
    page = await context.newPage();
    await page.goto(origin);
    await page.getByLabel('Password').waitFor();
  });
  afterEach(() => context.close());

  /** Registers the browser like the page does, and returns the error with which it ends, because no person is signed in. */
  async function register(): Promise<string> {
    const chunk = readdirSync(`${folder}/assets`).find((file) => file.startsWith('messaging-')) ?? assert.fail();
    const device = JSON.stringify({ uid: 'ada', device: 'device-1', key: KEY });
    await page.evaluate(SUBSCRIPTION);
    return page.evaluate<string>(
      `import('/assets/${chunk}').then(({ register }) => register(${device})).then(() => '', ({ message }) => message)`,
    );
  }

  it('are requested from Cloud Messaging with the key of the deployment', async () => {
    const asked: unknown[] = [];
    const cors = { 'access-control-allow-origin': origin, 'access-control-allow-headers': '*' };
    await context.route(/googleapis\.com/, async (route) => {
      const request = route.request();
      const { hostname } = new URL(request.url());
      if (request.method() === 'POST') asked.push([hostname, request.postDataJSON()?.web?.applicationPubKey]);
      const authToken = { token: 'a.b.c', expiresIn: '604800s' };
      const installation = { fid: 'c123456789012345678901', refreshToken: 'r', authToken };
      const body = hostname.startsWith('fcm') ? { token: 'token-1' } : installation;
      await route.fulfill({ json: body, headers: cors });
    });
    // The token is stored with the ID token of a signed-in person.
    assert.match(await register(), /signed out/);
    assert.deepEqual(asked, [
      ['firebaseinstallations.googleapis.com', undefined],
      ['fcmregistrations.googleapis.com', KEY],
    ]);
  });

  it('are shown by the service worker, also if they are malformed', async () => {
    await context.route(/googleapis\.com/, (route) => route.abort());
    assert.match(await register(), /Failed to fetch/);
    const session = await context.newCDPSession(page);
    const registrationId = await registrationOf(session);
    const link = `${origin}/d/todo-1`;
    const message = { notification: { title: 'Water', body: 'Now', tag: 'event-1' }, data: { link } };
    for (const data of [JSON.stringify(message), 'no JSON'])
      await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
    const notifications = async () =>
      shown.parse(
        await page.evaluate(`navigator.serviceWorker.ready
          .then((registration) => registration.getNotifications())
          .then((all) => all.map(({ title, tag, data }) => ({ title, tag, link: data.link })))`),
      );
    const found = await eventually('two notifications', async () => {
      const all = await notifications();
      return all.length === 2 ? all : undefined;
    });
    assert.deepEqual(
      found.toSorted((one, other) => other.tag.localeCompare(one.tag)),
      [
        { title: 'Water', tag: 'event-1', link },
        { title: 'Muster has news for you', tag: '', link: '' },
      ],
    );
  });

  it('cannot get another service worker, because the page allows only its own scripts', async () => {
    const refused = `navigator.serviceWorker.register('/push.js').then(() => 'registered', ({ message }) => message)`;
    assert.match(await page.evaluate<string>(refused), /TrustedScriptURL/);
  });
});

/** Returns Chromium's id of the registered service worker. */
async function registrationOf(session: CDPSession): Promise<string> {
  const ids = new Set<string>();
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    for (const { registrationId } of registrations) ids.add(registrationId);
  });
  await session.send('ServiceWorker.enable');
  return eventually('the registration', async () => [...ids][0]);
}
