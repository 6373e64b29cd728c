/** Current time by the server's clock, with one tick per second for the whole page. */
import { computed, signal } from '@preact/signals';
import { clockOffset } from './sources.ts';

const SECOND = 1000;
const CALM_MS = 10 * SECOND;
export const now = signal(Date.now());

/** Time that changes only every ten seconds, for lists that would be slow to render every second. */
export const calm = computed(() => Math.floor(now.value / CALM_MS) * CALM_MS);

export function followTime(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now() + clockOffset.peek();
  }, SECOND);
}
