/** APIs, roles and locations that a deployment needs, derived from this repository's declarations. */
import type { Api } from '../google/apis.ts';
import { usesVertex } from '../models/file.ts';
import type { Declared } from './declared.ts';
import permissions from './permissions.json' with { type: 'json' };

/** APIs and roles that the functions need, by the package that they import. */
export const PACKAGES: Readonly<Record<string, { readonly api: Api; readonly role: string }>> = {
  '@google-cloud/firestore': { api: 'firestore.googleapis.com', role: 'roles/datastore.user' },
  '@google-cloud/pubsub': { api: 'pubsub.googleapis.com', role: 'roles/pubsub.publisher' },
  'firebase-admin/auth': { api: 'identitytoolkit.googleapis.com', role: 'roles/firebaseauth.viewer' },
  'firebase-admin/database': { api: 'firebasedatabase.googleapis.com', role: 'roles/firebasedatabase.admin' },
  'firebase-admin/functions': { api: 'cloudtasks.googleapis.com', role: 'roles/cloudtasks.enqueuer' },
  'firebase-admin/messaging': { api: 'fcm.googleapis.com', role: 'roles/firebasecloudmessaging.admin' },
};

/** APIs that are needed to build and run functions, to deploy rules and the console, and to check the deployment. */
const ALWAYS: readonly Api[] = [
  'artifactregistry.googleapis.com',
  'billingbudgets.googleapis.com',
  'cloudbilling.googleapis.com',
  'cloudbuild.googleapis.com',
  'cloudfunctions.googleapis.com',
  'cloudresourcemanager.googleapis.com',
  'firebase.googleapis.com',
  'firebasehosting.googleapis.com',
  'firebaserules.googleapis.com',
  'iam.googleapis.com',
  // Needed to sign custom tokens, with which agents read and write data as themselves.
  'iamcredentials.googleapis.com',
  'logging.googleapis.com',
  'orgpolicy.googleapis.com',
  'run.googleapis.com',
  'serviceusage.googleapis.com',
  'storage.googleapis.com',
];

export function neededApis({
  functions,
  secrets,
  models,
}: Pick<Declared, 'functions' | 'secrets' | 'models'>): string[] {
  const has = (kind: string) => functions.some((one) => one.kind === kind);
  return [
    ...new Set([
      ...ALWAYS,
      ...Object.values(PACKAGES).map(({ api }) => api),
      ...functions.flatMap(({ apis }) => apis),
      ...(has('event') ? ['eventarc.googleapis.com'] : []),
      ...(secrets.length > 0 ? ['secretmanager.googleapis.com'] : []),
      ...(usesVertex(models) ? ['aiplatform.googleapis.com'] : []),
    ]),
  ].sort();
}

/** Returns the project roles of the functions' account. Its roles on secrets and on itself are not project roles. */
export function neededRoles({ functions, models }: Pick<Declared, 'functions' | 'models'>): string[] {
  return [
    ...new Set([
      'roles/logging.logWriter',
      ...Object.values(PACKAGES).map(({ role }) => role),
      ...(functions.some(({ kind }) => kind === 'event') ? ['roles/eventarc.eventReceiver'] : []),
      ...(usesVertex(models) ? ['roles/aiplatform.user'] : []),
    ]),
  ].sort();
}

/** Role to call a function. Granted per function, because on the project it would allow calls of every service. */
export const INVOKER_ROLE = 'roles/run.invoker';

/** Returns the functions that Eventarc, Cloud Scheduler and Cloud Tasks call with the functions' account. */
export function calledByGoogle({ functions }: Pick<Declared, 'functions'>): string[] {
  return functions.filter(({ kind }) => kind !== 'https').map(({ name }) => name);
}

/** Roles of the functions' account on itself, for signing custom tokens and for tasks that run with its identity. */
export const ROLES_ON_ITSELF = ['roles/iam.serviceAccountTokenCreator', 'roles/iam.serviceAccountUser'] as const;

/** Role for reading a secret. It is granted per secret, to the account of the functions that use the secret. */
export const SECRET_ROLE = 'roles/secretmanager.secretAccessor';

/** Role for building functions. Cloud Build uses the project's default account, which may have no role. */
export const BUILD_ROLES = ['roles/cloudbuild.builds.builder', 'roles/editor', 'roles/owner'] as const;

/** Returns the id of the Realtime Database instance that the functions use. */
export function realtimeOf<Instance extends { readonly type: string }>(
  instances: readonly Instance[],
): Instance | undefined {
  return instances.find(({ type }) => type === 'DEFAULT_DATABASE');
}

/** Returns the nearest Realtime Database location. Source: https://firebase.google.com/docs/projects/locations#rtdb-locations */
export function realtimeLocationNear(region: string): string {
  if (/^(europe|me|africa)-/.test(region)) return 'europe-west1';
  return /^(asia|australia)-/.test(region) ? 'asia-southeast1' : 'us-central1';
}

/** Returns the dead-letter topic, which triggers the function that logs dead letters. */
export function deadLetterTopic({ functions }: Pick<Declared, 'functions'>): string | undefined {
  return functions.find(({ topic, retries }) => topic !== undefined && !retries)?.topic;
}

/**
 * Returns whether a subscription belongs to a function that retries, and therefore needs a dead-letter topic. The
 * name that Eventarc gives to a subscription contains the region and the function.
 */
export function isConsumers(
  { functions, region, project }: Pick<Declared, 'functions' | 'region' | 'project'>,
  { name, topic }: { readonly name: string; readonly topic: string },
): boolean {
  return functions.some(
    (one) =>
      one.retries &&
      topic === `projects/${project}/topics/${one.topic}` &&
      name.includes(`/eventarc-${region}-${one.name.toLowerCase()}-`),
  );
}

/** Permissions in the project that the operator needs for a deployment. */
export const DEPLOYING: readonly string[] = [
  ...new Set([
    ...permissions.always,
    ...Object.values(permissions.methods).flat(),
    ...Object.values(permissions.cli).flat(),
  ]),
].sort();

export function rolesFor(lacking: readonly string[]): readonly string[] {
  const roles = Object.entries(permissions.roles);
  return roles.filter(([, given]) => lacking.some((one) => given.includes(one))).map(([role]) => role);
}

export function defaultAccountOf(projectNumber: string): string {
  return `${projectNumber}-compute@developer.gserviceaccount.com`;
}

/** Returns the account with which Pub/Sub moves messages to the dead-letter topic. */
export function pubSubAgentOf(projectNumber: string): string {
  return `service-${projectNumber}@gcp-sa-pubsub.iam.gserviceaccount.com`;
}
