import { setTimeout as delay } from 'node:timers/promises';
import { Mistake } from '../mistake.ts';
import type { Hub } from '../rpc.ts';
import { screenOf } from './screen.ts';
import { takeSnapshot } from './snapshot.ts';

const HOME_AND_CLEAR = '\u001b[H\u001b[J';

/** Shows what goes on until it is interrupted. What fails is shown, and tried again. @param seconds between two looks */
export async function watch(hub: Hub, seconds: number, terminal: NodeJS.WriteStream): Promise<void> {
  const end = new AbortController();
  process.once('SIGINT', () => end.abort());
  while (!end.signal.aborted) {
    terminal.write(HOME_AND_CLEAR + (await look(hub, terminal.columns)));
    await delay(seconds * 1000, undefined, { signal: end.signal }).catch(() => undefined);
  }
}

async function look(hub: Hub, width: number): Promise<string> {
  try {
    return `${screenOf(await takeSnapshot(hub), width)}\nCtrl-C ends this.\n`;
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return `${error.message}\n`;
  }
}
