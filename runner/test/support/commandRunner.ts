/** `commandRunner <folder> <command> [hangs]`: does a command run. With `hangs`, its report never reaches the hub. */
import { writeFileSync } from 'node:fs';
import type { Ending } from '../../src/hub/hub.ts';
import { commandTask } from './commands.ts';
import { LocalHub, startRunner } from './localHub.ts';

const [folder = '', command = '', hangs] = process.argv.slice(2);

class HangingHub extends LocalHub {
  override async end(task: string, epoch: number, ending: Ending): Promise<string> {
    if (hangs === undefined) return super.end(task, epoch, ending);
    writeFileSync(`${folder}/hangs`, '');
    return new Promise(() => void setInterval(() => undefined, 1000));
  }
}

await startRunner({
  folder,
  repo: `${folder}/repo`,
  hub: new HangingHub(commandTask('t1', command)),
  args: ['--once', '--commands'],
  shutdown: new AbortController().signal,
  output: [],
});
