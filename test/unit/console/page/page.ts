/**
 * The console without a browser. Everything below the sign-in is rendered into a minimal document, and a `Backend`
 * replaces Firebase and the tools.
 */
import assert from 'node:assert/strict';
import { createContext, Script } from 'node:vm';
import { build, type Plugin } from 'esbuild';
import { root } from '../../../../scripts/project.mjs';
import type { Backend } from './backend.ts';
import { DomDocument, DomElement, DomEvent, DomNode, type Keys } from './dom.ts';

const REPLACED: Readonly<Record<string, string>> = {
  'live/firestore.ts':
    'export const { watchDocuments, watchDocument, readDocuments, countDocuments, writeDocument } = backend;',
  'live/realtime.ts': 'export const { watchNode } = backend;',
  'session/session.ts': `
    export const connection = () => backend.connection;
    export const idToken = async () => 'token';
    export const renewToken = async () => undefined;
    export const isAddressVerified = async () => true;
    export const leave = async () => undefined;`,
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
      return contents === undefined ? undefined : { contents };
    });
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

const ROLES: Readonly<Record<string, (one: DomElement) => boolean>> = {
  article: ({ localName }) => localName === 'article',
  button: ({ localName }) => localName === 'button',
  checkbox: (one) => one.getAttribute('type') === 'checkbox',
  dialog: ({ localName }) => localName === 'dialog',
  heading: ({ localName }) => /^h[1-6]$/.test(localName),
  link: (one) => one.localName === 'a' && one.hasAttribute('href'),
  listitem: ({ localName }) => localName === 'li',
  region: ({ localName }) => localName === 'section',
  row: ({ localName }) => localName === 'tr',
};

/** Part of the page in which elements are found by role and name, as people find them. */
export class Part {
  readonly element: DomElement;

  constructor(element: DomElement) {
    this.element = element;
  }

  /** Returns the elements that have this role and name now, except those inside a closed dialog. */
  all(role: string, name?: string | RegExp): readonly Part[] {
    const isOf = ROLES[role] ?? ((one: DomElement) => one.getAttribute('role') === role);
    return this.element.elements
      .filter((one) => isOf(one) && isShown(one) && (name === undefined || isCalled(one, name)))
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
      const found = this.element.elements.find(
        (one) => one.localName === 'label' && one.textContent.trim().startsWith(label),
      );
      const field = found?.elements.find(({ localName }) => ['input', 'select', 'textarea'].includes(localName));
      return field && new Part(field);
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
    return this.element.value;
  }

  get isDisabled(): boolean {
    return this.element.disabled;
  }

  async press(button: string | RegExp): Promise<void> {
    const found = await this.get('button', button);
    await eventually(
      () => `${button} can be pressed`,
      () => !found.isDisabled,
    );
    found.element.click();
  }

  type(text: string): void {
    this.element.value = text;
    this.element.dispatchEvent(new DomEvent('input'));
  }

  choose(value: string): void {
    this.element.value = value;
    this.element.dispatchEvent(new DomEvent('change'));
  }

  key(key: string, keys: Keys = {}): void {
    this.element.dispatchEvent(new DomEvent('keydown', { ...keys, key }));
  }
}

export class Page extends Part {
  readonly window = new DomNode();
  readonly document = new DomDocument(this.window);
  /** Warnings and errors that the page has written to the browser console. */
  readonly complaints: unknown[] = [];
  private readonly clock = { now: Date.now() };
  private readonly ticking = new Set<() => void>();
  private url: URL;

  private constructor(address: string) {
    super(new DomElement('html', ''));
    this.url = new URL(address, 'http://console.example');
    this.element.insertBefore(this.document.body, null);
    this.document.insertBefore(this.element, null);
  }

  /** Opens the console at an address, as a person who is signed in. */
  static async open(backend: Backend, address = '/'): Promise<Page> {
    bundled ??= bundle();
    const script = await bundled;
    const page = new Page(address);
    script.runInContext(createContext(page.globals(backend)));
    return page;
  }

  get address(): string {
    return `${this.url.pathname}${this.url.search}`;
  }

  get title(): string {
    return this.document.title;
  }

  get focused(): Part {
    return new Part(this.document.activeElement);
  }

  /** Advances the clock of the page, and runs each interval function once. */
  pass(milliseconds: number): void {
    this.clock.now += milliseconds;
    for (const tick of this.ticking) tick();
  }

  /** Follows a link within the page without loading the page again. */
  follow(address: string): void {
    const link = new DomElement('a', '');
    link.setAttribute('href', address);
    this.document.body.insertBefore(link, null);
    link.click();
    link.remove();
  }

  /** Dispatches a browser event to the page: `pagehide`, `pageshow` or `focus`. */
  tell(event: string): void {
    this.window.dispatchEvent(new DomEvent(event));
  }

  private globals(backend: Backend): object {
    const { clock, ticking, window, document } = this;
    const go = (_state: unknown, _title: string, address: string | URL) => {
      this.url = new URL(address, this.url);
    };
    const complain = (...what: readonly unknown[]) => this.complaints.push(...what);
    class PageDate extends Date {
      constructor(...args: readonly [] | readonly [number | string | Date] | readonly [number, number, ...number[]]) {
        if (args.length < 2) super(args[0] ?? clock.now);
        else {
          const [year, month = 0, day = 1, hours = 0, minutes = 0] = args;
          super(Number(year), month, day, hours, minutes);
        }
      }
      static override now(): number {
        return clock.now;
      }
      static override [Symbol.hasInstance](value: unknown): boolean {
        return Object.prototype.toString.call(value) === '[object Date]';
      }
    }
    const location = new Proxy({}, { get: (_target, name) => Reflect.get(this.url, name) });
    const self = {
      backend,
      document,
      location,
      history: { pushState: go, replaceState: go },
      fetch: backend.fetch,
      Date: PageDate,
      Error,
      Element: DomElement,
      HTMLAnchorElement: Anchor,
      ResizeObserver: Unsized,
      crypto,
      URL,
      URLSearchParams,
      AbortSignal,
      FormData: Sent,
      queueMicrotask,
      console: { ...console, error: complain, warn: complain },
      scrollTo: () => undefined,
      addEventListener: window.addEventListener.bind(window),
      removeEventListener: window.removeEventListener.bind(window),
      requestAnimationFrame: setImmediate,
      cancelAnimationFrame: clearImmediate,
      setTimeout: (run: () => void, milliseconds: number) => setTimeout(run, milliseconds).unref(),
      clearTimeout,
      setInterval: (run: () => void) => ticking.add(run) && run,
      clearInterval: (run: () => void) => ticking.delete(run),
    };
    return Object.assign(self, { window: self, self });
  }
}

/** Makes `instanceof HTMLAnchorElement` true for the elements of the minimal document. */
const Anchor = { [Symbol.hasInstance]: (value: unknown) => value instanceof DomElement && value.localName === 'a' };

/** Replaces ResizeObserver and never reports a change, because the minimal document has no sizes. */
class Unsized {
  observe(): void {}
  disconnect(): void {}
}

class Sent {
  private readonly form: DomElement;

  constructor(form: DomElement) {
    this.form = form;
  }

  get(name: string): string | null {
    return this.form.elements.find((one) => one.getAttribute('name') === name)?.value ?? null;
  }
}

function isShown(one: DomElement): boolean {
  if (one.localName === 'dialog' && !one.isOpen) return false;
  return !(one.parentNode instanceof DomElement) || isShown(one.parentNode);
}

function textOf(node: DomNode): string {
  if (node instanceof DomElement && node.localName === 'dialog' && !node.isOpen) return '';
  if (!(node instanceof DomElement)) return node.textContent;
  return node.childNodes.map(textOf).join('');
}

function isCalled(one: DomElement, name: string | RegExp): boolean {
  const called = (one.getAttribute('aria-label') ?? textOf(one)).trim();
  return typeof name === 'string' ? called === name : name.test(called);
}
