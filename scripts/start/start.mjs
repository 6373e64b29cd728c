// @ts-check
import { tmpdir } from 'node:os';
import { endpointAnswers } from '../emulators/answers.mjs';
import { placeConsole } from '../emulators/hosting.mjs';
import { startLocalService } from '../emulators/localService.mjs';
import { openOutput } from '../emulators/output.mjs';
import { usualOrFreePorts } from '../emulators/ports.mjs';
import { startSuite } from '../emulators/suite.mjs';
import { runSession } from '../processes/session.mjs';
import { root } from '../project.mjs';
import { exclusively } from '../setup/lock.mjs';
import { prepare } from '../setup/prepare.mjs';
import { announce, writeEndpoint } from './endpoint.mjs';
import { tickSchedules } from './schedules.mjs';
import { seed } from './tokens.mjs';

/** Persons' ID tokens hold for an hour. */
const tokenRefreshMilliseconds = 45 * 60_000;

/** @param {{ demoModels: boolean }} options */
export async function start({ demoModels }) {
  await runSession({ kind: 'start', interrupted: 0 }, async ({ run, say }) => {
    const node = await prepare({ run, say });
    const output = openOutput(run, 'emulators', { screen: true });
    const models = demoModels
      ? await startLocalService('demo models', { node, env: run.env, output })
      : undefined;
    // One at a time on the machine: a usual port that looks free may be about to be another start's.
    const suite = await exclusively(`${tmpdir()}/muster-ports.lock`, async () => {
      const ports = await usualOrFreePorts(say);
      return startSuite({
        ...{ run, node, ports, output, say, ui: true, importFrom: `${root}/emulator-data` },
        ...{ personal: true, ...(models && { parameters: models }) },
      });
    });
    const ended = suite.exited.then((reason) => `${reason}; what they logged: ${output.file}`);
    await Promise.race([serve(), ended]);
    say(await ended);
    return 1;

    async function serve() {
      await endpointAnswers(suite.env.MUSTER_MCP_URL ?? '');
      const seeding = { node, run, suite, output };
      const seeded = await seed(seeding, { refresh: false });
      placeConsole(run, suite.ports, { people: seeded.people });
      const endpoint = writeEndpoint(run, suite, seeded);
      announce(endpoint, run, { demoModels });
      tickSchedules(suite.env.MUSTER_FUNCTIONS_URL ?? '', output);
      setInterval(async () => {
        try {
          const { tokens } = await seed(seeding, { refresh: true });
          writeEndpoint(run, suite, { ...seeded, tokens: { ...seeded.tokens, ...tokens } });
        } catch (error) {
          output.line('tokens', `Error: ${error instanceof Error ? error.message : error}`);
        }
      }, tokenRefreshMilliseconds);
    }
  });
}
