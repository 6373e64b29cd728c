/** Announces the current page: in the browser's tab, and to screen readers. */
import { useEffect, useRef } from 'preact/hooks';
import { place } from '../router.ts';
import { SCREENS } from './screens.ts';

const THINGS: Readonly<Record<string, string>> = { t: 'Task', d: 'To-do', r: 'Run', a: 'Agent' };

export function useTitle(): void {
  const address = place.value.join('/');
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${titleOf(address.split('/'))} · Muster`;
    // On the first load, screen readers read the page anyway, so the focus is not moved.
    if (!isFirst.current) document.getElementById('main')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [address]);
}

function titleOf([kind = '', id]: readonly string[]): string {
  const thing = THINGS[kind];
  if (thing !== undefined && id !== undefined) return `${thing} ${id}`;
  return SCREENS.find(({ path }) => path === kind)?.title ?? 'Page not found';
}
