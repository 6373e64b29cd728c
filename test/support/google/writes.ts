/** Simulates a deployment: writes to Google's APIs change later responses about the project. */
import type { Declared } from '../../../scripts/doctor/declared.ts';
import { declaredAnswer, NUMBER, PROJECT, REALTIME_RULES, RELEASES, RULESET, topicsOf } from './answers.ts';
import { type GoogleRequest, googleError, type Write } from './server.ts';

type Answers = Map<string, unknown>;
type Fields = Readonly<Record<string, unknown>>;

const REGION = 'us-central1';
const HERE = `projects/${PROJECT}/locations/${REGION}`;
const FIREBASE = `firebase.googleapis.com/v1beta1/projects/${PROJECT}`;
const APP = `1:${NUMBER}:web:cd34`;
export const write: Write = (request, answers) => WRITES[shortOf(request.method.id)]?.(request, answers);

/** Shortens method ids, because all methods that end in `setIamPolicy` work in the same way. */
function shortOf(id: string): string {
  return id.endsWith('setIamPolicy') ? 'setIamPolicy' : id;
}

const WRITES: Readonly<Record<string, Write>> = {
  'serviceusage.services.batchEnable': ({ body }, answers) => {
    const enabled = textsIn(fields(body)['serviceIds']).map((api) => ({
      name: `projects/${NUMBER}/services/${api}`,
      state: 'ENABLED',
    }));
    append(answers, `serviceusage.googleapis.com/v1/projects/${NUMBER}/services`, 'services', ...enabled);
    return started(answers, 'serviceusage.googleapis.com/v1/', 'operations/acat.1', {});
  },
  'firestore.projects.databases.create': ({ body, query, path }, answers) => {
    const name = `projects/${PROJECT}/databases/${query.get('databaseId')}`;
    append(answers, `firestore.googleapis.com/${path}`, 'databases', { name, ...fields(body) });
    return started(answers, 'firestore.googleapis.com/v1/', `${name}/operations/1`, { name });
  },
  'firestore.projects.databases.patch': ({ body, path }, answers) => {
    const name = path.replace('v1/', '');
    change(answers, `firestore.googleapis.com/v1/projects/${PROJECT}/databases`, name, fields(body));
    return started(answers, 'firestore.googleapis.com/v1/', `${name}/operations/2`, { name });
  },
  'firestore.projects.databases.backupSchedules.create': ({ body, path }, answers) => {
    const schedule = { name: `${path.replace('v1/', '')}/1`, ...fields(body) };
    append(answers, `firestore.googleapis.com/${path}`, 'backupSchedules', schedule);
    return schedule;
  },
  'firestore.projects.databases.collectionGroups.indexes.create': ({ body, path }, answers) => {
    const groups = path.replace(/collectionGroups\/[^/]+/, 'collectionGroups/-');
    const name = `${path.replace('v1/', '')}/CIC${answers.size}`;
    append(answers, `firestore.googleapis.com/${groups}`, 'indexes', { name, ...fields(body), state: 'READY' });
    return { name: `${name}/operations/1`, done: true };
  },
  'firestore.projects.databases.collectionGroups.fields.patch': ({ body, path }, answers) => {
    const groups = path.replace(/collectionGroups\/.*$/, 'collectionGroups/-/fields');
    const name = path.replace('v1/', '');
    const { ttlConfig, ...given } = fields(body);
    const expiring = ttlConfig !== undefined && { ttlConfig: { state: 'ACTIVE' } };
    append(answers, `firestore.googleapis.com/${groups}`, 'fields', { name, ...given, ...expiring });
    return { name: `${name}/operations/1`, done: true };
  },
  'firebaserules.projects.rulesets.create': ({ api, body, path }, answers) => {
    const name = `${path.replace('v1/', '')}/1`;
    answers.set(`${api}/v1/${name}`, { ...fields(body), name });
    return { name };
  },
  'firebaserules.projects.releases.patch': ({ body, path, api }, answers) => {
    const release = fields(fields(body)['release']);
    answers.set(`${api}/${path}`, release);
    const others = itemsIn(fields(answers.get(RELEASES) ?? {})['releases']).filter(
      ({ name }) => name !== release['name'],
    );
    answers.set(RELEASES, { releases: [...others, release] });
    return release;
  },
  'firebasedatabase.projects.locations.instances.create': ({ body, query, path }, answers) => {
    const databaseUrl = `https://${query.get('databaseId')}.firebaseio.com`;
    const name = `${path.replace('v1beta/', '').replace(PROJECT, NUMBER)}/${query.get('databaseId')}`;
    const instance = { name, databaseUrl, state: 'ACTIVE', ...fields(body) };
    append(
      answers,
      `firebasedatabase.googleapis.com/v1beta/projects/${PROJECT}/locations/-/instances`,
      'instances',
      instance,
    );
    answers.set(`${FIREBASE}/adminSdkConfig`, { projectId: PROJECT, databaseURL: databaseUrl });
    return instance;
  },
  'firebase.projects.webApps.create': (_request, answers) => {
    const app = { name: `projects/${PROJECT}/webApps/${APP}`, appId: APP, projectId: PROJECT };
    append(answers, `${FIREBASE}/webApps`, 'apps', app);
    answers.set(`${FIREBASE}/webApps/${APP}/config`, { projectId: PROJECT, appId: APP, apiKey: 'AIzaSyA-made' });
    return started(answers, 'firebase.googleapis.com/v1beta1/', 'operations/workflows.1', app);
  },
  'firebasehosting.projects.sites.create': ({ body, query, path }, answers) => {
    const site = { name: `projects/${PROJECT}/sites/${query.get('siteId')}`, ...fields(body) };
    append(answers, `firebasehosting.googleapis.com/${path}`, 'sites', site);
    return site;
  },
  'firebasehosting.projects.sites.patch': ({ body, path }, answers) =>
    change(
      answers,
      `firebasehosting.googleapis.com/v1beta1/projects/${PROJECT}/sites`,
      path.replace('v1beta1/', ''),
      fields(body),
    ),
  'iam.projects.serviceAccounts.create': ({ body, path }, answers) => {
    const email = `${fields(body)['accountId']}@${PROJECT}.iam.gserviceaccount.com`;
    const account = { name: `projects/${PROJECT}/serviceAccounts/${email}`, email };
    answers.set(`iam.googleapis.com/${path}/${email}`, account);
    answers.set(`iam.googleapis.com/${path}/${email}:getIamPolicy`, { etag: 'ACAB' });
    return account;
  },
  'secretmanager.projects.secrets.create': ({ query, path }, answers) => {
    const secret = `secretmanager.googleapis.com/${path}/${query.get('secretId')}`;
    if (answers.has(`${secret}/versions`)) return googleError(409, 'ALREADY_EXISTS', 'Secret already exists.');
    answers.set(`${secret}/versions`, {});
    answers.set(`${secret}:getIamPolicy`, { etag: 'ACAB' });
    return { name: path };
  },
  'secretmanager.projects.secrets.addVersion': ({ path }, answers) => {
    const version = { name: `${path.replace(':addVersion', '')}/versions/1`, state: 'ENABLED' };
    append(answers, `secretmanager.googleapis.com/${path.replace(':addVersion', '')}/versions`, 'versions', version);
    return version;
  },
  setIamPolicy: (request, answers) => {
    const path = `${request.api}/${request.path.replace(':setIamPolicy', ':getIamPolicy')}`;
    const given = fields(fields(request.body)['policy']);
    if (isRefused(request, answers))
      return googleError(
        400,
        'FAILED_PRECONDITION',
        'One or more users named in the policy do not belong to a permitted customer.',
      );
    if (given['etag'] !== fields(answers.get(path) ?? {})['etag'])
      return googleError(409, 'ABORTED', 'There were concurrent policy changes.');
    const next = { ...given, etag: `${given['etag'] ?? ''}A` };
    answers.set(path, next);
    return next;
  },
  'run.projects.locations.services.patch': ({ body, path }, answers) => {
    const name = path.replace('v2/', '');
    change(answers, `run.googleapis.com/v2/${HERE}/services`, name, fields(body));
    return started(answers, 'run.googleapis.com/v2/', `${HERE}/operations/1`, { name });
  },
  'artifactregistry.projects.locations.repositories.patch': ({ body, path }, answers) => {
    const repository = { ...fields(answers.get(`artifactregistry.googleapis.com/${path}`)), ...fields(body) };
    answers.set(`artifactregistry.googleapis.com/${path}`, repository);
    return repository;
  },
  'cloudtasks.projects.locations.queues.resume': ({ path }, answers) =>
    change(answers, `cloudtasks.googleapis.com/v2/${HERE}/queues`, path.replace(/^v2\/|:resume$/g, ''), {
      state: 'RUNNING',
    }),
  'cloudscheduler.projects.locations.jobs.resume': ({ path }, answers) =>
    change(answers, `cloudscheduler.googleapis.com/v1/${HERE}/jobs`, path.replace(/^v1\/|:resume$/g, ''), {
      state: 'ENABLED',
    }),
  'pubsub.projects.subscriptions.patch': ({ body, path }, answers) =>
    change(
      answers,
      `pubsub.googleapis.com/v1/projects/${PROJECT}/subscriptions`,
      path.replace('v1/', ''),
      fields(fields(body)['subscription']),
    ),
  'logging.projects.exclusions.create': ({ api, body, path }, answers) => {
    append(answers, `${api}/${path}`, 'exclusions', fields(body));
    return body;
  },
  'logging.projects.exclusions.patch': ({ api, body, path }, answers) => {
    const [, list = '', name = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
    return change(answers, `${api}/${list}`, name, fields(body));
  },
  'identitytoolkit.projects.updateConfig': ({ api, body, path }, answers) => {
    const config = { ...fields(answers.get(`${api}/${path}`)), ...fields(body) };
    answers.set(`${api}/${path}`, config);
    return config;
  },
};

/** Simulates the deployment of rules and indexes by the Firebase CLI. One index is still being created. */
export function deployedRules(answers: Answers, declared: Declared): void {
  const groups = `firestore.googleapis.com/v1/projects/${PROJECT}/databases/(default)/collectionGroups/-`;
  const building = JSON.stringify(declaredAnswer('$indexes', declared)).replace('"READY"', '"CREATING"');
  answers.set(`${groups}/indexes`, JSON.parse(building));
  answers.set(`${groups}/fields`, declaredAnswer('$fields', declared));
  answers.set(RELEASES, declaredAnswer('$releases', declared));
  answers.set(RULESET, declaredAnswer('$firestoreRules', declared));
  answers.set(REALTIME_RULES, declaredAnswer('$realtimeRules', declared));
}

/** Simulates the deployment of functions. @param isOpened whether the CLI was able to allow public access */
export function deployedFunctions(answers: Answers, declared: Declared, isOpened: boolean): void {
  const made: readonly (readonly [string, string])[] = [
    [`cloudfunctions.googleapis.com/v2/projects/${PROJECT}/locations/-/functions`, '$functions'],
    [`run.googleapis.com/v2/${HERE}/services`, '$services'],
    [`cloudtasks.googleapis.com/v2/${HERE}/queues`, '$queues'],
    [`cloudscheduler.googleapis.com/v1/${HERE}/jobs`, '$jobs'],
    [`pubsub.googleapis.com/v1/projects/${PROJECT}/topics`, '$topics'],
    [`pubsub.googleapis.com/v1/projects/${PROJECT}/subscriptions`, '$plainSubscriptions'],
  ];
  for (const [path, answer] of made) answers.set(path, declaredAnswer(answer, declared));
  answers.set(`artifactregistry.googleapis.com/v1/${HERE}/repositories/gcf-artifacts`, {
    name: `${HERE}/repositories/gcf-artifacts`,
    format: 'DOCKER',
  });
  const everybody = { etag: 'ACAB', bindings: [{ role: 'roles/run.invoker', members: ['allUsers'] }] };
  for (const { name, isPublic } of declared.functions)
    answers.set(
      `run.googleapis.com/v2/${HERE}/services/${name.toLowerCase()}:getIamPolicy`,
      isPublic && isOpened ? everybody : { etag: 'ACAB' },
    );
  for (const { topic, subscription } of topicsOf(declared))
    for (const name of [topic, subscription])
      answers.set(`pubsub.googleapis.com/v1/${name}:getIamPolicy`, { etag: 'ACAB' });
}

/** Returns whether the organization's policy of domain restricted sharing rejects access for `allUsers`. */
function isRefused({ body }: GoogleRequest, answers: Answers): boolean {
  const policy = [...answers].find(([path]) => path.includes('iam.allowedPolicyMemberDomains'))?.[1];
  return JSON.stringify(policy).includes('allowedValues') && JSON.stringify(body).includes('allUsers');
}

/** Starts a long-running operation, which has ended when its state is first requested. */
function started(answers: Answers, before: string, name: string, response: object): object {
  answers.set(before + name, { name, done: true, response });
  return { name, done: false };
}

function append(answers: Answers, path: string, key: string, ...items: readonly object[]): void {
  const answer = fields(answers.get(path) ?? {});
  answers.set(path, { ...answer, [key]: [...itemsIn(answer[key]), ...items] });
}

/** Changes the item with this name in the list at the path, and returns the item. */
function change(answers: Answers, path: string, name: string, changed: Fields): object {
  const key = path.slice(path.lastIndexOf('/') + 1);
  const answer = fields(answers.get(path));
  const items = itemsIn(answer[key]).map((item) => (item['name'] === name ? { ...item, ...changed } : item));
  answers.set(path, { ...answer, [key]: items });
  return items.find((item) => item['name'] === name) ?? googleError(404, 'NOT_FOUND', name);
}

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new Error('an object was expected');
  return Object.fromEntries(Object.entries(value));
}

function itemsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
