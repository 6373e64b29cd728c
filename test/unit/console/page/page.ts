/** The console in happy-dom, as a signed-in person sees it. A `Backend` replaces Firebase and the tools. */
import assert from 'node:assert/strict';
import { Script } from 'node:vm';
import { build, type Plugin } from 'esbuild';
import { DOMRect, Element, Event, HTMLElement, type HTMLInputElement, KeyboardEvent, Node, Window } from 'happy-dom';
import { root } from '../../../../scripts/project.mjs';
import type { Backend } from './backend.ts';
import { Clock } from './clock.ts';

const REPLACED: Readonly<Record<string, string>> = {
  'live/firestore.ts':
    'export const { watchDocuments, watchDocument, readDocuments, countDocuments, writeDocument } = backend;',
  'live/realtime.ts': 'export const { watchNode } = backend;',
  'session/session.ts': `
    import { signal } from '@preact/signals';
    export const session = signal({ state: 'signedIn', person: backend.person });
    export const ownUid = () => backend.person.uid;
    export const connection = () => backend.connection;
    export const idToken = async () => 'token';
    export const isAddressVerified = async () => true;
    export const { leave, renewToken } = backend;`,
};

const PAGE = `
  import { h, render } from 'preact';
  import { followVisibility } from './live/live.ts';
  import { followTime } from './live/time.ts';
  import { followLinks } from './router.ts';
  import { Shell } from './shell/Shell.tsx';
  followLinks();
  followTime();
  followVisibility();
  render(h(Shell, { person: backend.person }), document.body);`;

const withoutFirebase: Plugin = {
  name: 'without-firebase',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /console\/src\/(live|session)\/\w+\.ts$/ }, ({ path }) => {
      const contents = REPLACED[path.split('/').slice(-2).join('/')];
      return contents === undefined ? undefined : { contents, resolveDir: `${root}/console/src` };
    });
    onResolve({ filter: /^firebase\/messaging$/ }, ({ path }) => ({ path, namespace: 'messaging' }));
    onLoad({ filter: /.*/, namespace: 'messaging' }, () => ({
      contents: 'export const { getMessaging, getToken, deleteToken } = messaging;',
    }));
    onResolve({ filter: /\?worker&url$/ }, ({ path }) => ({ path, namespace: 'worker' }));
    onLoad({ filter: /.*/, namespace: 'worker' }, () => ({ contents: 'export default "/worker.js"' }));
  },
};

let bundled: Promise<Script> | undefined;

async function bundle(): Promise<Script> {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: `${root}/console/src`, loader: 'ts' },
    bundle: true,
    format: 'iife',
    write: false,
    logLevel: 'error',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [withoutFirebase],
    alias: { rrule: 'rrule/dist/es5/rrule.js' }, // as in scripts/setup/buildConsole.mjs
  });
  return new Script(outputFiles[0]?.text ?? '');
}

/** Maximum time in milliseconds for which a test waits. Long enough for a busy machine. */
const PATIENCE_MS = 60_000;

async function eventually<Value>(what: () => string, look: () => Value | undefined | false): Promise<Value> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    assert.ok(performance.now() < until, `Timed out waiting for: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Turns of the event loop after which Preact has run the effects of the last drawing. */
const TURNS_OF_EFFECTS = 4;

const scrolled = new WeakMap<Element, number>();

/** happy-dom has no layout: a box has no height here, its content ends far below, and it reports that it scrolls. */
Object.defineProperties(Element.prototype, {
  scrollHeight: { value: 1e6 },
  scrollTop: {
    get(this: Element): number {
      return scrolled.get(this) ?? 0;
    },
    set(this: Element, top: number) {
      scrolled.set(this, top);
      queueMicrotask(() => this.dispatchEvent(new Event('scroll')));
    },
  },
});

/** Elements that have a role without an attribute. */
const ROLES: Readonly<Record<string, string>> = {
  article: 'article',
  button: 'button, summary',
  checkbox: 'input[type="checkbox"]',
  dialog: 'dialog',
  heading: 'h1, h2, h3',
  link: 'a[href]',
  listitem: 'li',
  region: 'section[aria-label], aside',
  row: 'tr',
};

/** Parts that people do not see in a wide window or, with a screen reader, do not hear. There are no style sheets here. */
const HIDDEN =
  'dialog:not([open]), details:not([open]) > *:not(summary), .top, .tabs, [popover], option, [aria-hidden="true"]';

/** Part of the page in which elements are found by role and name, as people find them. */
export class Part {
  readonly element: HTMLElement;

  constructor(element: HTMLElement) {
    this.element = element;
  }

  /** Returns the visible elements that have this role and name now. */
  all(role: string, name?: string | RegExp): readonly Part[] {
    return this.elements([`[role="${role}"]`, ROLES[role] ?? []].flat().join())
      .filter((one) => name === undefined || isCalled(one, name))
      .map((one) => new Part(one));
  }

  get(role: string, name?: string | RegExp): Promise<Part> {
    return eventually(
      () => `${role} ${name ?? ''} in ${this.text}`,
      () => this.all(role, name)[0],
    );
  }

  async lacks(role: string, name?: string | RegExp): Promise<void> {
    await eventually(
      () => `no ${role} ${name ?? ''} in ${this.text}`,
      () => this.all(role, name).length === 0,
    );
  }

  /** Returns the form field whose label starts with this text. */
  field(label: string): Promise<Part> {
    const find = () => {
      const fields = this.elements<HTMLInputElement>('input, select, textarea');
      const found = fields.find((one) => labelOf(one).startsWith(label));
      return found && new Part(found);
    };
    return eventually(() => `a field ${label} in ${this.text}`, find);
  }

  async shows(words: string | RegExp): Promise<void> {
    await eventually(
      () => `“${words}” in ${this.text}`,
      () => (typeof words === 'string' ? this.text.includes(words) : words.test(this.text)),
    );
  }

  async hides(words: string): Promise<void> {
    await eventually(
      () => `“${words}” no longer in ${this.text}`,
      () => !this.text.includes(words),
    );
  }

  /** Waits until `look` returns a value. If it returns none in time, fails with the description `what`. */
  async waitFor(what: string, look: () => unknown): Promise<void> {
    await eventually(
      () => what,
      () => Boolean(look()),
    );
  }

  get text(): string {
    return textOf(this.element);
  }

  get value(): string {
    return String(Reflect.get(this.element, 'value'));
  }

  get isChecked(): boolean {
    return Reflect.get(this.element, 'checked') === true;
  }

  get isDisabled(): boolean {
    return this.element.hasAttribute('disabled');
  }

  async press(button: string | RegExp): Promise<void> {
    const found = await this.get('button', button);
    await eventually(
      () => `${button} can be pressed`,
      () => !found.isDisabled,
    );
    found.element.click();
  }

  /** Opens a menu, and chooses one of its entries. */
  async choose(menu: string | RegExp, entry: string | RegExp): Promise<void> {
    await this.press(menu);
    await this.press(entry);
  }

  type(text: string): void {
    Reflect.set(this.element, 'value', text);
    this.element.dispatchEvent(new Event('input', { bubbles: true }));
  }

  select(value: string): void {
    Reflect.set(this.element, 'value', value);
    this.element.dispatchEvent(new Event('change', { bubbles: true }));
  }

  key(key: string, { ctrlKey = false } = {}): void {
    this.element.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true }));
  }

  /** Scrolls this part, or the page, by this many pixels from the top of the part. */
  scroll(top: number): void {
    this.element.scrollTop = top;
    this.element.getBoundingClientRect = () => new DOMRect(0, -top);
    this.element.ownerDocument.defaultView?.dispatchEvent(new Event('scroll'));
  }

  private elements<Type extends HTMLElement>(selector: string): readonly Type[] {
    return [...this.element.querySelectorAll<Type>(selector)].filter((one) => one.closest(HIDDEN) === null);
  }
}

interface BrowserFeatures extends Readonly<Record<string, unknown>> {
  readonly navigator?: object;
  /** Texts in the page's local storage. */
  readonly stored?: Readonly<Record<string, string>>;
}

export class Page extends Part {
  /** Warnings and errors that the page has written to the browser console. */
  readonly complaints: unknown[] = [];
  readonly window: Window;
  private readonly clock = new Clock();

  private constructor(window: Window) {
    super(window.document.body);
    this.window = window;
  }

  /**
   * Opens the console at an address, as a person who is signed in.
   * @param more what else the browser has
   */
  static async open(
    backend: Backend,
    address = '/',
    { navigator, stored = {}, ...more }: BrowserFeatures = {},
  ): Promise<Page> {
    bundled ??= bundle();
    const script = await bundled;
    const window = new Window({ url: new URL(address, 'http://console.example').href, width: 1280, height: 800 });
    const page = new Page(window);
    Object.assign(window.navigator, navigator);
    for (const [key, value] of Object.entries(stored)) window.localStorage.setItem(key, value);
    const complain = (...what: readonly unknown[]) => page.complaints.push(...what);
    Object.assign(window, page.clock.globals, {
      backend,
      fetch: backend.fetch,
      requestAnimationFrame: setImmediate,
      cancelAnimationFrame: clearImmediate,
      console: { ...console, error: complain, warn: complain },
      ...more,
    });
    script.runInContext(window);
    return page;
  }

  get address(): string {
    const { pathname, search } = this.window.location;
    return `${pathname}${search}`;
  }

  get title(): string {
    return this.window.document.title;
  }

  get focused(): Part {
    const { activeElement, body } = this.window.document;
    return new Part(activeElement instanceof HTMLElement ? activeElement : body);
  }

  /** Lets time pass, after what is shown has started its timers. A timer that is due runs once. */
  async pass(milliseconds: number): Promise<void> {
    for (let turn = 0; turn < TURNS_OF_EFFECTS; turn++) await new Promise(setImmediate);
    this.clock.pass(milliseconds);
  }

  /** Follows a link within the page without loading the page again. */
  follow(address: string): void {
    const link = this.window.document.createElement('a');
    link.setAttribute('href', address);
    this.element.append(link);
    link.click();
    link.remove();
  }

  /** Dispatches a browser event to the page: `pagehide`, `pageshow` or `focus`. */
  tell(event: string): void {
    this.window.dispatchEvent(new Event(event));
  }
}

function textOf(element: Element): string {
  if (element.matches(HIDDEN)) return '';
  return [...element.childNodes].map((node) => (isElement(node) ? textOf(node) : node.textContent)).join('');
}

const isElement = (node: Node): node is Element => node.nodeType === Node.ELEMENT_NODE;

const nameOf = (one: Element): string => (one.getAttribute('aria-label') ?? textOf(one)).trim();

function isCalled(one: Element, name: string | RegExp): boolean {
  return typeof name === 'string' ? nameOf(one) === name : name.test(nameOf(one));
}

/** @param field an input, select or textarea */
function labelOf(field: HTMLInputElement): string {
  const [label] = field.labels;
  return field.getAttribute('aria-label') ?? label?.textContent.trim() ?? '';
}
