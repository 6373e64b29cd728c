/** The console's service worker shows push messages, and opens the page that a notification is about. */
import assert from 'node:assert/strict';
import { createContext, Script } from 'node:vm';
import { build } from 'esbuild';
import { ConsoleLinks } from '../../../functions/src/kernel/consoleLinks.ts';
import { notificationOf } from '../../../functions/src/toolsets/todo/rules/reminders/notification.ts';
import { messageTo } from '../../../functions/src/vendors/fcm/pushService.ts';
import { root } from '../../../scripts/project.mjs';

const ORIGIN = 'https://console.example';

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly data: unknown;
}

/** An open page of the console. */
class OpenPage {
  readonly focused: boolean;
  readonly visibilityState: 'visible' | 'hidden';
  readonly received: unknown[] = [];
  wasFocused = false;

  constructor(state: 'front' | 'visible' | 'hidden') {
    this.focused = state === 'front';
    this.visibilityState = state === 'hidden' ? 'hidden' : 'visible';
  }

  readonly focus = async () => {
    this.wasFocused = true;
  };

  readonly postMessage = (message: unknown) => {
    this.received.push(structuredClone(message));
  };
}

type Handler = (event: object) => void;

/** The scope of a service worker, with the parts that the worker uses. */
class Scope {
  readonly shown: Shown[] = [];
  readonly opened: string[] = [];
  pages: readonly OpenPage[] = [];
  hasSkippedWaiting = false;
  private readonly handlers = new Map<string, Handler>();

  constructor(script: Script) {
    const self = {
      addEventListener: (type: string, handler: Handler) => this.handlers.set(type, handler),
      location: { origin: ORIGIN },
      registration: {
        showNotification: async (title: string, options: Omit<Shown, 'title'>) => {
          this.shown.push(structuredClone({ title, ...options }));
        },
      },
      clients: {
        matchAll: async (options: object) => {
          assert.deepEqual({ ...options }, { type: 'window', includeUncontrolled: true });
          return this.pages;
        },
        openWindow: async (address: string) => this.opened.push(address),
      },
      skipWaiting: async () => {
        this.hasSkippedWaiting = true;
      },
    };
    script.runInContext(createContext({ self, URL }));
  }

  /** Dispatches an event, and waits for the work of its handler. */
  async dispatch(type: string, event: object = {}): Promise<void> {
    const handler = this.handlers.get(type) ?? assert.fail(`no handler of ${type}`);
    const work: unknown[] = [];
    handler({ ...event, waitUntil: (promise: unknown) => work.push(promise) });
    assert.equal(work.length, 1, 'the browser waits for the work');
    await work[0];
  }

  /** @param text the message; undefined if the event has none */
  push(text?: string): Promise<void> {
    return this.dispatch('push', { data: text === undefined ? null : { json: (): unknown => JSON.parse(text) } });
  }

  async click(data: unknown): Promise<void> {
    let isClosed = false;
    const close = () => {
      isClosed = true;
    };
    await this.dispatch('notificationclick', { notification: { data, close } });
    assert.equal(isClosed, true);
  }
}

/** Returns a message of the server in the form in which Cloud Messaging delivers it to a browser. */
function delivered(type: 'question' | 'reminder', after: Readonly<Record<string, string>>): string {
  const event = { id: 'event-1', type, taskId: 'item-1', userId: 'ada', timestamp: new Date(0), before: null } as const;
  const notification = notificationOf({ ...event, after, changes: [] }, new ConsoleLinks(ORIGIN));
  const message = messageTo('token', notification ?? assert.fail());
  return JSON.stringify({
    from: '1234567890',
    fcmMessageId: 'message-1',
    notification: { ...message.notification, ...message.webpush?.notification },
    data: message.data,
    fcmOptions: message.webpush?.fcmOptions,
  });
}

describe('service worker of the console', () => {
  let script: Script;
  let scope: Scope;

  before(async () => {
    const entryPoints = [`${root}/console/worker/push.ts`];
    const { outputFiles } = await build({ entryPoints, bundle: true, format: 'iife', write: false, logLevel: 'error' });
    script = new Script(outputFiles[0]?.text ?? '');
  });

  beforeEach(() => {
    scope = new Scope(script);
  });

  const question = delivered('question', { question: 'Which zone?', workspace: 'team' });
  const link = `${ORIGIN}/?request=item-1&workspace=team`;

  it('shows a question with the question as title, its id as tag, and its link', async () => {
    scope.pages = [new OpenPage('visible'), new OpenPage('hidden')];
    await scope.push(question);
    const [{ title, body, tag, data } = assert.fail()] = scope.shown;
    assert.deepEqual([title, tag, data], ['Which zone?', 'item-1', { link }]);
    assert.match(body, /question for you/);
  });

  it('does not show a question while a page is in front, but does show a reminder', async () => {
    scope.pages = [new OpenPage('hidden'), new OpenPage('front')];
    await scope.push(question);
    assert.deepEqual(scope.shown, []);
    await scope.push(delivered('reminder', { task_title: 'Water the plants' }));
    const rows = scope.shown.map(({ title, tag, data }) => [title, tag, data]);
    assert.deepEqual(rows, [['Water the plants', 'event-1', { link: `${ORIGIN}/d/item-1` }]]);
  });

  for (const [what, text] of [
    ['nothing', undefined],
    ['text that is no JSON', 'hello'],
    ['null', 'null'],
    ['values of other types', '{"notification":{"title":7,"body":[]},"data":"x"}'],
  ] as const)
    it(`shows a notification for a message with ${what}, because the browser requires one`, async () => {
      await scope.push(text);
      assert.deepEqual(
        scope.shown.map(({ title }) => title),
        ['Muster has news for you'],
      );
    });

  it('opens a page if none is open', async () => {
    await scope.click({ link });
    assert.deepEqual(scope.opened, [link]);
  });

  it('brings an open page to the front and shows the link there, preferably in a visible page', async () => {
    const [hidden, visible] = [new OpenPage('hidden'), new OpenPage('visible')];
    scope.pages = [hidden, visible];
    await scope.click({ link: '/?request=item-1' });
    assert.deepEqual(visible.received, [{ openPage: `${ORIGIN}/?request=item-1` }]);
    assert.deepEqual([visible.wasFocused, hidden.wasFocused, hidden.received, scope.opened], [true, false, [], []]);
    scope.pages = [hidden];
    await scope.click({ link });
    assert.deepEqual(hidden.received, [{ openPage: link }]);
  });

  it('opens pages only at its own origin', async () => {
    const cases = [
      ['https://evil.example/d/1?x=y', '/d/1?x=y'],
      ['https://console.example//evil.example/', '//evil.example/'],
      ['//evil.example/d/1', '/d/1'],
      ['javascript:alert(1)', '/'],
      ['data:text/html,x', '/'],
      ['https://', '/'],
      ['', '/'],
    ] as const;
    for (const [hostile] of cases) await scope.click({ link: hostile });
    assert.deepEqual(
      scope.opened,
      cases.map(([, path]) => `${ORIGIN}${path}`),
    );
    for (const address of scope.opened) assert.equal(new URL(address).origin, ORIGIN);
    for (const data of [null, undefined, 'x', { link: 7 }]) await scope.click(data);
    assert.deepEqual(new Set(scope.opened.slice(cases.length)), new Set([`${ORIGIN}/`]));
  });

  it('replaces an earlier version without waiting', async () => {
    await scope.dispatch('install');
    assert.equal(scope.hasSkippedWaiting, true);
  });
});
