/** Where the page is. Every row of it has an address of its own, in the workspace that the address names. */
import { computed, signal } from '@preact/signals';

const here = signal(new URL(location.href));

const WORKSPACE = 'workspace';

export const DEFAULT_WORKSPACE = 'default';

/** The workspace that is looked at. */
export const workspace = computed(() => here.value.searchParams.get(WORKSPACE) || DEFAULT_WORKSPACE);

/** `/t/abc` as `['t', 'abc']`. */
export const place = computed(() =>
  here.value.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decoded),
);

/** What an address asks beside its place, such as which view of tasks. */
export function parameter(name: string): string | undefined {
  return here.value.searchParams.get(name) ?? undefined;
}

/** The address of something in the workspace that is looked at. */
export function addressOf(
  parts: readonly string[],
  parameters: Readonly<Record<string, string>> = {},
): string {
  const url = new URL(`/${parts.map(encodeURIComponent).join('/')}`, location.origin);
  if (workspace.value !== DEFAULT_WORKSPACE) url.searchParams.set(WORKSPACE, workspace.value);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return `${url.pathname}${url.search}`;
}

export function go(address: string): void {
  history.pushState(null, '', address);
  follow();
  scrollTo(0, 0);
}

/** The same place with one thing asked otherwise; without a value it is not asked. */
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

/** Links of the page lead on without loading it anew. */
export function followLinks(): void {
  addEventListener('popstate', follow);
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (link === null || link.hasAttribute('target')) return;
    // Of a link in a drawing the property is no text.
    const address = new URL(link.getAttribute('href') ?? '', location.href);
    if (address.origin !== location.origin) return;
    event.preventDefault();
    go(`${address.pathname}${address.search}`);
  });
}

/** An address that nobody can decode names nothing, and is no reason to fail. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
