import { setTimeout as delay } from 'node:timers/promises';
import { Mistake } from '../mistake.ts';
import type { Hub } from '../rpc.ts';
import { screenOf } from './screen.ts';
import { takeSnapshot } from './snapshot.ts';

/** Escape sequences of xterm. They switch to the alternate screen and hide the cursor, and undo both. */
const OTHER_SCREEN = '\u001b[?1049h\u001b[?25l';
const OWN_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME_AND_CLEAR = '\u001b[H\u001b[J';
const HINT = 'Press Ctrl-C to stop.';

/**
 * Shows and refreshes the status until interrupted, then restores the terminal. If a request fails, shows why.
 * @param seconds seconds between two requests
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

/** Returns the lines that fit the terminal, and a last line on how to stop. One more line would scroll the screen. */
function fitted(screen: string, rows: number): string {
  const lines = screen.trimEnd().split('\n');
  return [...lines.slice(0, Math.max(1, rows - 2)), '', HINT].slice(0, rows).join('\n');
}
