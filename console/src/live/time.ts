/** The time, in one tick a second for the whole page, by the server's clock. */
import { signal } from '@preact/signals';
import { clockOffset } from './sources.ts';

const SECOND = 1000;

/** Milliseconds of the epoch. */
export const now = signal(Date.now());

export function followTime(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now() + clockOffset.peek();
  }, SECOND);
}
