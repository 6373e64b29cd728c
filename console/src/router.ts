/** Routing. Every page has an address, which also names the workspace. */
import { computed, signal } from '@preact/signals';

const here = signal(new URL(location.href));
const WORKSPACE = 'workspace';
export const DEFAULT_WORKSPACE = 'default';
export const workspace = computed(() => here.value.searchParams.get(WORKSPACE) || DEFAULT_WORKSPACE);

/** Path segments of the current address: `['t', 'abc']` for `/t/abc`. */
export const place = computed(() =>
  here.value.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decoded),
);

/** Returns a parameter of the current address, such as the view of the tasks. */
export function parameter(name: string): string | undefined {
  return here.value.searchParams.get(name) ?? undefined;
}

/** Returns an address in the current workspace. */
export function addressOf(parts: readonly string[], parameters: Readonly<Record<string, string>> = {}): string {
  const url = new URL(`/${parts.map(encodeURIComponent).join('/')}`, location.origin);
  if (workspace.value !== DEFAULT_WORKSPACE) url.searchParams.set(WORKSPACE, workspace.value);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return `${url.pathname}${url.search}`;
}

/** Returns the address of the first page of a workspace. */
export function inWorkspace(name: string): string {
  return name === DEFAULT_WORKSPACE ? '/' : `/?${WORKSPACE}=${encodeURIComponent(name)}`;
}

export function go(address: string): void {
  history.pushState(null, '', address);
  follow();
  scrollTo(0, 0);
}

/** Returns the current address with one parameter changed, or removed if it has no value. */
export function ask(name: string, value: string | undefined): void {
  const url = new URL(location.href);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  history.replaceState(null, '', url);
  follow();
}

function follow(): void {
  here.value = new URL(location.href);
}

/** Links within the console navigate without reloading the page. */
export function followLinks(): void {
  addEventListener('popstate', follow);
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (link === null || link.hasAttribute('target')) return;
    // The property `href` of an SVG link is not a string, so the attribute is read.
    const address = new URL(link.getAttribute('href') ?? '', location.href);
    if (address.origin !== location.origin) return;
    event.preventDefault();
    go(`${address.pathname}${address.search}`);
  });
}

/** Returns a decoded path segment. A malformed segment must not cause an error. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
