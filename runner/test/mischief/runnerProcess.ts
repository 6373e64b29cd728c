/** `runnerProcess <fixture> <crashPoint>`: does a task as a runner, and is killed at the crash point. */
import { parseSettings } from '../../src/arguments.ts';
import { openRepository } from '../../src/git/repository.ts';
import { recover } from '../../src/recovery.ts';
import { createRedactor } from '../../src/redaction.ts';
import { Runner } from '../../src/runner.ts';
import { type CrashPoint, prepareCrash } from './crashPoint.ts';
import { type RunnerFixture, runOnce } from './fixture.ts';

const [fixture = '', crashPoint = ''] = process.argv.slice(2);
const where: RunnerFixture = JSON.parse(fixture);
const when: CrashPoint = JSON.parse(crashPoint);
prepareCrash(when);
await runOnce({ Runner, recover, parseSettings, openRepository, createRedactor }, where);
process.exit(0);
