import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 20_000;

/** Repeats an assertion until it passes. At the time limit, throws the assertion's last error. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(20);
    }
  }
}
