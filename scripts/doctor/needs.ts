/** A deployment's requirements on Google, derived from the repository's declarations: APIs, roles, regions. */
import type { Api } from '../google/apis.ts';
import type { Declared } from './declared.ts';
import permissions from './permissions.json' with { type: 'json' };

/** API and role that each imported package needs. */
export const PACKAGES: Readonly<Record<string, { readonly api: Api; readonly role: string }>> = {
  '@google-cloud/firestore': { api: 'firestore.googleapis.com', role: 'roles/datastore.user' },
  '@google-cloud/pubsub': { api: 'pubsub.googleapis.com', role: 'roles/pubsub.publisher' },
  'firebase-admin/auth': { api: 'identitytoolkit.googleapis.com', role: 'roles/firebaseauth.viewer' },
  'firebase-admin/database': { api: 'firebasedatabase.googleapis.com', role: 'roles/firebasedatabase.admin' },
  'firebase-admin/functions': { api: 'cloudtasks.googleapis.com', role: 'roles/cloudtasks.enqueuer' },
  'firebase-admin/messaging': { api: 'fcm.googleapis.com', role: 'roles/firebasecloudmessaging.admin' },
};

/** APIs needed to build and run functions, deploy rules and the console, and check the deployment. */
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
  // Signs custom tokens: agents read and write data as themselves.
  'iamcredentials.googleapis.com',
  'logging.googleapis.com',
  'orgpolicy.googleapis.com',
  'run.googleapis.com',
  'serviceusage.googleapis.com',
  'storage.googleapis.com',
];

export function neededApis({ functions, secrets }: Pick<Declared, 'functions' | 'secrets'>): string[] {
  const has = (kind: string) => functions.some((one) => one.kind === kind);
  return [
    ...new Set([
      ...ALWAYS,
      ...Object.values(PACKAGES).map(({ api }) => api),
      ...functions.flatMap(({ apis }) => apis),
      ...(has('event') ? ['eventarc.googleapis.com'] : []),
      ...(secrets.length > 0 ? ['secretmanager.googleapis.com'] : []),
    ]),
  ].sort();
}

/** Returns the project roles of the functions' account. Its roles on itself and on secrets are granted there. */
export function neededRoles({ functions }: Pick<Declared, 'functions'>): string[] {
  return [
    ...new Set([
      'roles/logging.logWriter',
      ...Object.values(PACKAGES).map(({ role }) => role),
      ...(functions.some(({ kind }) => kind === 'event') ? ['roles/eventarc.eventReceiver'] : []),
    ]),
  ].sort();
}

/** Granted on each called function instead of the project, where it would also open every other service. */
export const INVOKER_ROLE = 'roles/run.invoker';

/** Returns the functions that Eventarc, Cloud Scheduler and Cloud Tasks call as the functions' account. */
export function calledByGoogle({ functions }: Pick<Declared, 'functions'>): string[] {
  return functions.filter(({ kind }) => kind !== 'https').map(({ name }) => name);
}

/** Roles of the functions' account on itself: it signs custom tokens and passes its identity to Cloud Tasks. */
export const ROLES_ON_ITSELF = ['roles/iam.serviceAccountTokenCreator', 'roles/iam.serviceAccountUser'] as const;

/** Role for reading a secret. The functions determine which account reads which secret. */
export const SECRET_ROLE = 'roles/secretmanager.secretAccessor';

/** Cloud Build runs as the project's default account, which has no role in new organizations. */
export const BUILD_ROLES = ['roles/cloudbuild.builds.builder', 'roles/editor', 'roles/owner'] as const;

/** Returns the Realtime Database instance that the functions use. */
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

/** Returns the dead-letter topic: the one that triggers the function that logs its messages. */
export function deadLetterTopic({ functions }: Pick<Declared, 'functions'>): string | undefined {
  return functions.find(({ topic, retries }) => topic !== undefined && !retries)?.topic;
}

/**
 * Returns whether a subscription belongs to a consumer that retries, which therefore needs a dead-letter topic.
 * Eventarc names a subscription after the region and the function.
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

/** Project permissions that a deployment needs. */
export const DEPLOYING: readonly string[] = [
  ...new Set([
    ...permissions.always,
    ...Object.values(permissions.methods).flat(),
    ...Object.values(permissions.cli).flat(),
  ]),
].sort();

/** Returns roles that together grant these permissions. */
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
