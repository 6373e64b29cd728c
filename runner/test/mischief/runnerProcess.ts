/** `runnerProcess <stage> <doom>`: a runner that runs one task and is killed at a step of its git work. */
import { parseSettings } from '../../src/arguments.ts';
import { openRepository } from '../../src/git/repository.ts';
import { recover } from '../../src/recovery.ts';
import { createRedactor } from '../../src/redaction.ts';
import { Runner } from '../../src/runner.ts';
import { type Doom, prepareDoom } from './doom.ts';
import { runOnce, type Stage } from './stage.ts';

const [stage = '', doom = ''] = process.argv.slice(2);
const where: Stage = JSON.parse(stage);
const when: Doom = JSON.parse(doom);
prepareDoom(when);
await runOnce({ Runner, recover, parseSettings, openRepository, createRedactor }, where);
process.exit(0);
