/** Steps that deploy code: first the rules and indexes that functions need, then functions, then the console. */
import { nameOf } from '../../doctor/checks/databases.ts';
import { topicPath } from '../../doctor/checks/events.ts';
import { pathBeside } from '../../doctor/checks/functions.ts';
import { indexStates } from '../../doctor/checks/indexes.ts';
import type { Diagnosis } from '../../doctor/diagnose.ts';
import { realtimeOf } from '../../doctor/needs.ts';
import { index } from '../../doctor/shapes.ts';
import { type Deployment, orStop, type Step, Stop } from '../step.ts';

const POLL_MS = 10_000;

/** Time limit for building indexes. Millions of documents take hours, so a later deployment continues to wait. */
const MAX_MS = 2 * 3600_000;

export const codeSteps: readonly Step[] = [
  {
    title: 'rules, indexes and expiry',
    checks: ['indexes', 'index exemptions', 'expiry', 'rules of Firestore', 'rules of the Realtime Database'],
    always: true,
    run: async ({ firebase, google }, { seen, declared: { databaseId, ruledDatabase, realtimeTarget } }) => {
      if (ruledDatabase !== databaseId)
        throw new Stop(
          `DATABASE_ID is ${databaseId}, but firebase.json has rules and indexes for ${ruledDatabase}. Add "database": "${databaseId}" under "firestore" in firebase.json`,
        );
      const instances = orStop(seen.realtimeInstances, 'Cannot read the Realtime Database');
      const instance = realtimeOf(instances);
      if (instance === undefined) throw new Stop('The Realtime Database is not visible yet', again(google.project));
      const applied = await firebase(['target:apply', 'database', realtimeTarget, nameOf(instance)]);
      if (!applied.succeeded)
        throw new Stop('Cannot set the Firebase CLI target of the Realtime Database: see the output above');
      const { succeeded } = await firebase(['deploy', '--only', 'firestore,database']);
      if (!succeeded) throw new Stop('Cannot deploy rules and indexes: see the output above');
    },
  },
  { title: 'wait until all indexes are ready', checks: ['indexes'], run: waitForIndexes },
  { title: 'no functions of previous versions', checks: ['functions of previous versions'] },
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
          `Cannot create the queues, schedules or topics of ${names.join(', ')}: see the output above`,
          again(google.project),
        );
    },
  },
];

/**
 * Returns the functions whose queue, schedule or topic is missing. The CLI skips unchanged functions. It recreates a
 * missing resource only if its function is named. Source: firebase-tools, release/planner.ts
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
    title: 'console',
    checks: [],
    always: true,
    run: async ({ firebase }, { declared }) => {
      if (!declared.hasHosting) return;
      const { succeeded } = await firebase(['deploy', '--only', 'hosting']);
      if (!succeeded) throw new Stop('Cannot deploy the console: see the output above');
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
    const states = indexStates(declared.indexes, orStop(found, 'Cannot read the indexes'));
    const broken = states.find(({ state }) => state === undefined || state === 'NEEDS_REPAIR');
    if (broken !== undefined) throw new Stop(`The index ${broken.key} is ${broken.state ?? 'missing'}`);
    const building = states.filter(({ state }) => state !== 'READY').length;
    if (building === 0) return;
    if (waited >= MAX_MS) throw new Stop(`${building} indexes are still being built`, again(google.project));
    say(`  ${building} of ${states.length} indexes are being built`);
    await google.pause(POLL_MS);
  }
}

/**
 * Deploys the functions. With `--force`, the CLI allows retries of events without asking. It would also delete
 * undeclared functions, but the previous step stops the deployment if any exist.
 */
async function deployFunctions({ firebase, google, say }: Deployment, { findings }: Diagnosis): Promise<void> {
  const { succeeded, output } = await firebase(['deploy', '--only', 'functions', '--force']);
  if (succeeded) return;
  const isClosed = findings.some(({ name, state }) => name === 'public callers' && state === 'problem');
  if (isClosed && onlyInvokersFailed(output))
    return say("  the organization forbids public functions, so a later step turns off Cloud Run's check of callers");
  throw new Stop(
    'Cannot deploy the functions: see the output above. In a new project, Eventarc works only after some minutes',
    again(google.project),
  );
}

/**
 * Returns whether opening some functions to all callers was the only error, according to two lists in the output.
 * Source: firebase-tools, src/deploy/functions/release/reporter.ts
 */
function onlyInvokersFailed(output: string): boolean {
  const listed = (title: string) =>
    new RegExp(`${title}[^\\n]*\\n((?:[ \\t]+\\S+\\n?)+)`).exec(output)?.[1]?.trim().split(/\s+/).sort().join();
  const all = listed('Functions deploy had errors with the following functions:');
  return (
    all !== undefined && all === listed('Unable to set the invoker for the IAM policy on the following functions:')
  );
}

function again(project: string) {
  return { command: `npm run deploy -- --project ${project}` };
}
