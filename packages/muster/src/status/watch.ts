import { setTimeout as delay } from 'node:timers/promises';
import { Mistake } from '../mistake.ts';
import type { Hub } from '../rpc.ts';
import { screenOf } from './screen.ts';
import { takeSnapshot } from './snapshot.ts';

/** What xterm and its like are told: a screen beside the person's own, without a cursor, and back to theirs. */
const OTHER_SCREEN = '\u001b[?1049h\u001b[?25l';
const OWN_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME_AND_CLEAR = '\u001b[H\u001b[J';

const HINT = 'Ctrl-C ends this.';

/**
 * Shows what goes on until it is interrupted, and then leaves the terminal as it was. What fails is shown, and tried
 * again.
 * @param seconds between two looks
 */
export async function watch(hub: Hub, seconds: number, terminal: NodeJS.WriteStream): Promise<void> {
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.abort());
  terminal.write(OTHER_SCREEN);
  try {
    while (!end.signal.aborted) {
      const screen = await look(hub, terminal.columns, end.signal);
      if (end.signal.aborted) break;
      terminal.write(HOME_AND_CLEAR + fitted(screen, terminal.rows));
      await delay(seconds * 1000, undefined, { signal: end.signal }).catch(() => undefined);
    }
  } finally {
    terminal.write(OWN_SCREEN);
  }
}

async function look(hub: Hub, width: number, end: AbortSignal): Promise<string> {
  try {
    return screenOf(await takeSnapshot(hub, end), width);
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return `${error.message}\n`;
  }
}

/** As many lines as there is room for, and how to end it: one line more and the terminal would scroll. */
function fitted(screen: string, rows: number): string {
  const lines = screen.trimEnd().split('\n');
  return [...lines.slice(0, Math.max(1, rows - 2)), '', HINT].slice(0, rows).join('\n');
}
