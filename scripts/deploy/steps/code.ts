/** What the repository holds: rules and indexes first, ready before anybody asks; then the functions; then the console. */
import { nameOf } from '../../doctor/checks/databases.ts';
import { topicPath } from '../../doctor/checks/events.ts';
import { pathBeside } from '../../doctor/checks/functions.ts';
import { indexStates } from '../../doctor/checks/indexes.ts';
import type { Diagnosis } from '../../doctor/diagnose.ts';
import { realtimeOf } from '../../doctor/needs.ts';
import { index } from '../../doctor/shapes.ts';
import { type Deployment, orStop, type Step, Stop } from '../step.ts';

const POLL_MS = 10_000;

/** An index of a collection with millions of documents takes hours, in which the deployment may be begun again. */
const LONGEST_MS = 2 * 3600_000;

export const codeSteps: readonly Step[] = [
  {
    title: 'rules, indexes and expiry',
    checks: ['indexes', 'index exemptions', 'expiry', 'rules of Firestore', 'rules of the Realtime Database'],
    always: true,
    run: async ({ firebase, google }, { seen, declared: { databaseId, ruledDatabase, realtimeTarget } }) => {
      if (ruledDatabase !== databaseId)
        throw new Stop(
          `DATABASE_ID is ${databaseId}, and firebase.json has rules and indexes for ${ruledDatabase}: write "database": "${databaseId}" there, under "firestore"`,
        );
      const instances = orStop(seen.realtimeInstances, 'The Realtime Database cannot be looked at');
      const instance = realtimeOf(instances);
      if (instance === undefined)
        throw new Stop('The Realtime Database cannot be seen yet', again(google.project));
      const applied = await firebase(['target:apply', 'database', realtimeTarget, nameOf(instance)]);
      if (!applied.succeeded)
        throw new Stop(
          'The Realtime Database cannot be named to the Firebase CLI: what stands above says why',
        );
      const { succeeded } = await firebase(['deploy', '--only', 'firestore,database']);
      if (!succeeded) throw new Stop('Rules and indexes cannot be deployed: what stands above says why');
    },
  },
  { title: 'wait until all indexes are ready', checks: ['indexes'], run: waitForIndexes },
  {
    title: 'functions of former versions, which are not deleted here',
    checks: ['functions of former versions'],
  },
  {
    title: 'functions',
    checks: ['functions', "functions' account", 'runtime', 'parameters', 'database URL', 'topics'],
    always: true,
    run: deployFunctions,
  },
  {
    title: 'queues, schedules and topics of the functions',
    checks: ['task queue', 'schedules', 'topics'],
    run: async ({ firebase, google }, site) => {
      const names = lacking(site);
      if (names.length === 0) return;
      const targets = names.map((name) => `functions:${name}`).join(',');
      const { succeeded } = await firebase(['deploy', '--only', targets, '--force']);
      if (!succeeded)
        throw new Stop(
          `What belongs to ${names.join(', ')} cannot be made: what stands above says why`,
          again(google.project),
        );
    },
  },
];

/**
 * Functions whose queue, schedule or topic somebody has deleted. The CLI passes over functions that have not changed,
 * and makes what belongs to them only if it is told their names. Source: firebase-tools, release/planner.ts
 */
function lacking(site: Diagnosis): readonly string[] {
  const { seen, declared } = site;
  if (!seen.queues.ok || !seen.jobs.ok || !seen.topics.ok) return [];
  const there = [...seen.queues.value, ...seen.jobs.value, ...seen.topics.value].map(({ name }) => name);
  return declared.functions
    .filter(({ name, kind, topic }) => {
      const path = topic === undefined ? pathBeside(declared, name, kind) : topicPath(site, topic);
      return path !== undefined && !there.some((one) => one.endsWith(path));
    })
    .map(({ name }) => name);
}

export const consoleSteps: readonly Step[] = [
  {
    title: 'the console',
    checks: [],
    always: true,
    run: async ({ firebase }, { declared }) => {
      if (!declared.hasHosting) return;
      const { succeeded } = await firebase(['deploy', '--only', 'hosting']);
      if (!succeeded) throw new Stop('The console cannot be deployed: what stands above says why');
    },
  },
];

async function waitForIndexes({ google, say }: Deployment, { declared }: Diagnosis): Promise<void> {
  for (let waited = 0; ; waited += POLL_MS) {
    const found = await google.list(
      {
        api: 'firestore.googleapis.com',
        path: `v1/projects/${google.project}/databases/${declared.databaseId}/collectionGroups/-/indexes`,
        query: { pageSize: '1000' },
        schema: index,
      },
      'indexes',
    );
    const states = indexStates(declared.indexes, orStop(found, 'Indexes cannot be looked at'));
    const broken = states.find(({ state }) => state === undefined || state === 'NEEDS_REPAIR');
    if (broken !== undefined) throw new Stop(`The index ${broken.key} is ${broken.state ?? 'missing'}`);
    const building = states.filter(({ state }) => state !== 'READY').length;
    if (building === 0) return;
    if (waited >= LONGEST_MS)
      throw new Stop(`${building} indexes are still being built`, again(google.project));
    say(`  ${building} of ${states.length} are being built`);
    await google.pause(POLL_MS);
  }
}

/**
 * `--force` lets events be tried again, which the CLI otherwise asks about. It would also delete functions that are no
 * more declared: the step before has seen that there are none.
 */
async function deployFunctions(
  { firebase, google, say }: Deployment,
  { findings }: Diagnosis,
): Promise<void> {
  const { succeeded, output } = await firebase(['deploy', '--only', 'functions', '--force']);
  if (succeeded) return;
  const isClosed = findings.some(({ name, state }) => name === 'public callers' && state === 'problem');
  if (isClosed && onlyInvokersFailed(output))
    return say(
      '  the organisation lets Firebase open nothing to all; Cloud Run is told below not to ask who calls',
    );
  throw new Stop(
    'Functions cannot be deployed: what stands above says why. In a new project Eventarc needs some minutes until it may',
    again(google.project),
  );
}

/**
 * The functions are there, and nobody may call them yet. The CLI says both by lists of names.
 * Source: firebase-tools, src/deploy/functions/release/reporter.ts
 */
function onlyInvokersFailed(output: string): boolean {
  const listed = (title: string) =>
    new RegExp(`${title}[^\\n]*\\n((?:[ \\t]+\\S+\\n?)+)`)
      .exec(output)?.[1]
      ?.trim()
      .split(/\s+/)
      .sort()
      .join();
  const all = listed('Functions deploy had errors with the following functions:');
  return (
    all !== undefined &&
    all === listed('Unable to set the invoker for the IAM policy on the following functions:')
  );
}

function again(project: string) {
  return { command: `npm run deploy -- --project ${project}` };
}
