/** `runnerProcess <source folder> <stage> <doom>`: a runner that does one task and is killed at a step of its git work. */
import { type Doom, prepareDoom } from './doom.ts';
import { runOnce, type Stage } from './stage.ts';

const [source = '', stage = '', doom = ''] = process.argv.slice(2);
const where: Stage = JSON.parse(stage);
const when: Doom = JSON.parse(doom);
prepareDoom(when);
await runOnce(source, where);
process.exit(0);
