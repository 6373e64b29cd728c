// @ts-check
import { tmpdir } from 'node:os';
import { startClientDocuments } from '../emulators/clientDocuments.mjs';
import { placeConsole } from '../emulators/hosting.mjs';
import { startLocalService } from '../emulators/localService.mjs';
import { openOutput } from '../emulators/output.mjs';
import { defaultOrFreePorts } from '../emulators/ports.mjs';
import { endpointReady } from '../emulators/readiness.mjs';
import { startSuite } from '../emulators/suite.mjs';
import { runSession } from '../processes/session.mjs';
import { root } from '../project.mjs';
import { exclusively } from '../setup/lock.mjs';
import { prepare } from '../setup/prepare.mjs';
import { connectThisClone } from './clone.mjs';
import { announce, writeEndpoint } from './endpoint.mjs';
import { tellFirebaseCli } from './hub.mjs';
import { tickSchedules } from './schedules.mjs';
import { seed } from './tokens.mjs';

/** Interval at which people's ID tokens are renewed, because they are valid for one hour. */
const tokenRefreshMilliseconds = 45 * 60_000;

/** @param {{ demoModels: boolean }} options */
export async function start({ demoModels }) {
  await runSession({ kind: 'start', interrupted: 0 }, async ({ run, say: sayPlainly }) => {
    const say = timed(sayPlainly);
    const node = await prepare({ run, say });
    const output = openOutput(run, 'emulators', { screen: true });
    const models = demoModels ? await startLocalService('demo models', { node, env: run.env, output }) : undefined;
    // Only one command on this machine chooses ports at a time, because a free port may already be assigned.
    const started = async () => {
      say('starting the Firebase emulators');
      const ports = await defaultOrFreePorts(say);
      return startSuite({
        run,
        node,
        ports,
        output,
        say,
        ui: true,
        importFrom: `${root}/emulator-data`,
        samplePeople: `${root}/emulator-data/people.json`,
        clientDocumentsUrl: await startClientDocuments(),
        saveMemory: true,
        useLocalParameters: true,
        ...(models && { parameters: models }),
      });
    };
    const suite = await exclusively(`${tmpdir()}/muster-ports.lock`, started, say);
    const ended = suite.exited.then((reason) => `${reason}; their log: ${output.file}`);
    await Promise.race([serve(), ended]);
    say(await ended);
    return 1;

    async function serve() {
      await endpointReady(suite.env.MUSTER_MCP_URL ?? '');
      const seeding = { node, run, suite, output };
      say('running the demo scenario');
      const seeded = await seed(seeding, { refresh: false });
      placeConsole(run, suite.ports, { people: seeded.people });
      const endpoint = writeEndpoint(run, suite, seeded);
      connectThisClone(run, endpoint);
      tellFirebaseCli(run);
      say('ready');
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

/**
 * Adds the time since the start to each line, in minutes and seconds.
 * @param {(message: string) => void} say
 * @returns {(message: string) => void}
 */
function timed(say) {
  const began = performance.now();
  return (message) => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    say(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}  ${message}`);
  };
}
