/** Notifications in a browser while no page is open: the page registers the browser, and removes it again. */
import assert from 'node:assert/strict';
import { keyOf } from '../../../../functions/src/kernel/ids.ts';
import { Backend, REALTIME_WRITE } from './backend.ts';
import { Page } from './page.ts';
import { PushBrowser } from './pushBrowser.ts';

const RECORD = 'muster.push';
const recordOf = (uid: string, key = 'key-1'): string => JSON.stringify({ uid, device: 'device-1', key });

describe('push messages in the console', () => {
  let backend: Backend;
  let browser: PushBrowser;

  beforeEach(() => {
    browser = new PushBrowser();
    backend = new Backend();
    backend.connection = { ...backend.connection, deployment: { ...backend.connection.deployment, pushKey: 'key-1' } };
  });

  const open = (address: string, stored?: string): Promise<Page> =>
    Page.open(backend, address, { ...browser.globals, ...(stored !== undefined && { stored: { [RECORD]: stored } }) });

  const writes = () => backend.called(REALTIME_WRITE);
  const set = (token: string, path = '/devices/ada/device-1.json') => {
    return { path, data: { token, registered_at: { '.sv': 'timestamp' } } };
  };
  const deleted = { path: '/devices/ada/device-1.json', data: null };

  /** Turns notifications on, and returns the path of the stored token. */
  async function turnOn(page: Page): Promise<string> {
    await page.press('Turn on');
    await page.get('button', 'Turn off');
    return String(writes().at(-1)?.['path']);
  }

  it('start when the person turns notifications on: the browser gets a token, which is stored', async () => {
    const page = await open('/preferences');
    await page.shows('Questions, approvals and reminders, also while Muster is closed.');
    const path = await turnOn(page);
    assert.match(path, /^\/devices\/ada\/[\w-]{36}\.json$/);
    assert.deepEqual(writes(), [set('token-1', path)]);
    assert.deepEqual(browser.keys, ['key-1']);
    await page.shows('On');
  });

  it('store the token under the key that the server uses, also if the uid has special characters', async () => {
    backend.person.uid = 'oidc:ada.b';
    backend.put(`people/${backend.person.uid}`, { role: 'admin' });
    const path = await turnOn(await open('/preferences'));
    const [, list, key, device] = path.split('/');
    assert.equal(list, 'devices');
    assert.equal(decodeURIComponent(String(key)), keyOf(backend.person.uid));
    assert.match(String(device), /^[\w-]{36}\.json$/);
  });

  it('end when the person turns notifications off, and so do those of the open page', async () => {
    const page = await open('/preferences');
    const path = await turnOn(page);
    await page.press('Turn off');
    await page.get('button', 'Turn on');
    assert.deepEqual(writes().at(-1), { ...deleted, path });
    assert.equal(browser.isSubscribed, false);
    page.window.document.hasFocus = () => false;
    backend.put('requests/late', { question: 'Which zone?' });
    await page.get('button', '1 thing is waiting for you');
    await page.pass(0);
    assert.deepEqual([browser.shown, browser.shownByWorker], [[], []]);
    await turnOn(page);
  });

  it('are not offered without a key, and then only the open page notifies', async () => {
    backend.connection = new Backend().connection;
    const page = await open('/preferences');
    await page.shows('Questions and approvals, also while Muster is in another tab.On');
    page.window.document.hasFocus = () => false;
    backend.put('requests/late', { question: 'Which zone?' });
    await page.waitFor('a notification', () => browser.shown.length > 0);
    assert.deepEqual([browser.keys, writes()], [[], []]);
  });

  it('remain off if the browser cannot be registered; the open page still notifies', async () => {
    browser.token = new Error('no push service');
    const page = await open('/preferences');
    await page.press('Turn on');
    await (await page.get('alert')).shows(/Muster can notify you only while it is open: .*no push service/);
    await page.get('button', 'Turn on');
    assert.equal(page.window.localStorage.getItem(RECORD), null);
    page.window.document.hasFocus = () => false;
    backend.put('requests/late', { question: 'Which zone?' });
    await page.waitFor('a notification', () => browser.shown.length > 0);
  });

  it('share the tag of notifications of the open page, so that one replaces the other', async () => {
    browser = new PushBrowser({ hasPush: true });
    const page = await open('/tasks', recordOf('ada'));
    await page.waitFor('the token', () => writes().length > 0);
    page.window.document.hasFocus = () => false;
    backend.put('requests/late', { question: 'Which zone?' });
    await page.waitFor('a notification', () => browser.shownByWorker.length > 0);
    assert.deepEqual(browser.shownByWorker, [{ title: 'Which zone?', tag: 'late', link: '/?request=late' }]);
    assert.deepEqual(browser.shown, []);
  });

  it('open the page of a clicked notification in an open page', async () => {
    browser = new PushBrowser({ hasPush: true });
    const page = await open('/tasks', recordOf('ada'));
    await page.waitFor('the token', () => writes().length > 0);
    for (const foreign of [undefined, 'openPage', { openPage: 7 }, { other: '/todos' }]) browser.tell(foreign);
    assert.equal(page.address, '/tasks');
    browser.tell({ openPage: 'http://console.example/todos?workspace=alpha' });
    await page.get('heading', 'To-dos');
    assert.equal(page.address, '/todos?workspace=alpha');
  });

  it('are renewed when a page opens, because tokens change', async () => {
    browser = new PushBrowser({ hasPush: true });
    browser.token = 'token-2';
    const page = await open('/tasks', recordOf('ada'));
    await page.waitFor('the token', () => writes().length > 0);
    assert.deepEqual(writes(), [set('token-2')]);
  });

  it('are renewed with the new key if the key of the deployment has changed', async () => {
    browser = new PushBrowser({ hasPush: true });
    const page = await open('/preferences', recordOf('ada', 'key-0'));
    await page.waitFor('the token', () => writes().length > 0);
    assert.deepEqual(browser.keys, ['key-1']);
    await page.get('button', 'Turn off');
    assert.equal(page.window.localStorage.getItem(RECORD), recordOf('ada'));
  });

  for (const [situation, stored, key] of [
    ['another person signs in', recordOf('ben'), 'key-1'],
    ['the deployment no longer has a key', recordOf('ada'), undefined],
    ['the record is damaged', '{', 'key-1'],
  ] as const)
    it(`end in this browser if ${situation}`, async () => {
      browser = new PushBrowser({ hasPush: true });
      if (key === undefined) backend.connection = new Backend().connection;
      const page = await open('/preferences', stored);
      await page.waitFor('the end', () => !browser.isSubscribed);
      assert.equal(page.window.localStorage.getItem(RECORD), null);
      assert.deepEqual(writes(), []);
    });

  it('end before the person signs out, while the token can still be deleted', async () => {
    browser = new PushBrowser({ hasPush: true });
    const page = await open('/tasks', recordOf('ada'));
    await page.waitFor('the token', () => writes().length > 0);
    const release = backend.hold(REALTIME_WRITE);
    await page.choose(/^Ada Person/, 'Sign out');
    await page.waitFor('the deletion', () => writes().length > 1);
    assert.equal(backend.hasLeft, false);
    release();
    await page.waitFor('the sign-out', () => backend.hasLeft);
    assert.deepEqual(writes().at(-1), deleted);
    assert.equal(browser.isSubscribed, false);
    assert.equal(page.window.localStorage.getItem(RECORD), null);
  });

  it('do not start if the person signs out while the browser is being registered', async () => {
    const page = await open('/preferences');
    const release = backend.hold(REALTIME_WRITE);
    await page.press('Turn on');
    await page.waitFor('the registration', () => writes().length > 0);
    page.window.localStorage.removeItem(RECORD);
    release();
    await page.waitFor('the end', () => writes().length > 1);
    assert.equal(writes()[1]?.['data'], null);
    await page.waitFor('the end in the browser', () => !browser.isSubscribed);
    await page.get('button', 'Turn on');
  });

  it('end in this browser after 3 seconds if the server does not respond to a sign-out', async () => {
    browser = new PushBrowser({ hasPush: true });
    const page = await open('/tasks', recordOf('ada'));
    await page.waitFor('the token', () => writes().length > 0);
    backend.hold(REALTIME_WRITE);
    await page.choose(/^Ada Person/, 'Sign out');
    await page.waitFor('the deletion', () => writes().length > 1);
    await page.pass(3000);
    await page.waitFor('the sign-out', () => backend.hasLeft);
    assert.equal(browser.isSubscribed, false);
  });
});
