/** Current time by the server's clock, with one tick per second for the whole page. */
import { signal } from '@preact/signals';
import { clockOffset } from './sources.ts';

const SECOND = 1000;
export const now = signal(Date.now());

export function followTime(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now() + clockOffset.peek();
  }, SECOND);
}
