/** What a deployment needs of Google, as it follows from what the repository declares: APIs, roles, regions. */
import type { Api } from '../google/apis.ts';
import type { Declared } from './declared.ts';
import permissions from './permissions.json' with { type: 'json' };

/** What each package that the functions import calls, and as whom the functions must be known there. */
export const PACKAGES: Readonly<Record<string, { readonly api: Api; readonly role: string }>> = {
  '@google-cloud/firestore': { api: 'firestore.googleapis.com', role: 'roles/datastore.user' },
  '@google-cloud/pubsub': { api: 'pubsub.googleapis.com', role: 'roles/pubsub.publisher' },
  'firebase-admin/auth': { api: 'identitytoolkit.googleapis.com', role: 'roles/firebaseauth.viewer' },
  'firebase-admin/database': { api: 'firebasedatabase.googleapis.com', role: 'roles/firebasedatabase.admin' },
  'firebase-admin/functions': { api: 'cloudtasks.googleapis.com', role: 'roles/cloudtasks.enqueuer' },
  'firebase-admin/messaging': { api: 'fcm.googleapis.com', role: 'roles/firebasecloudmessaging.admin' },
};

/** Whatever the functions are: to build and run them, to put rules and the console there, and to look at it all. */
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
  // Custom tokens are signed there: agents read and write data as themselves.
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

/** The roles of the functions' account in the project. Its rights on itself and on secrets are given there. */
export function neededRoles({ functions }: Pick<Declared, 'functions'>): string[] {
  return [
    ...new Set([
      'roles/logging.logWriter',
      ...Object.values(PACKAGES).map(({ role }) => role),
      ...(functions.some(({ kind }) => kind === 'event') ? ['roles/eventarc.eventReceiver'] : []),
    ]),
  ].sort();
}

/** On each function that it calls, and not on the project, where it would open every other service, too. */
export const INVOKER_ROLE = 'roles/run.invoker';

/** Functions that Eventarc, Cloud Scheduler and Cloud Tasks call as the functions' account. */
export function calledByGoogle({ functions }: Pick<Declared, 'functions'>): string[] {
  return functions.filter(({ kind }) => kind !== 'https').map(({ name }) => name);
}

/** The functions' account on itself: it signs custom tokens, and hands Cloud Tasks its own identity. */
export const ROLES_ON_ITSELF = [
  'roles/iam.serviceAccountTokenCreator',
  'roles/iam.serviceAccountUser',
] as const;

/** Which account each secret is read by follows from the functions; this is the role for it. */
export const SECRET_ROLE = 'roles/secretmanager.secretAccessor';

/** Cloud Build runs as the project's default account, which in new organisations has no role. */
export const BUILD_ROLES = ['roles/cloudbuild.builds.builder', 'roles/editor', 'roles/owner'] as const;

/** The one of a project that the functions use. */
export function realtimeOf<Instance extends { readonly type: string }>(
  instances: readonly Instance[],
): Instance | undefined {
  return instances.find(({ type }) => type === 'DEFAULT_DATABASE');
}

/** Where the Realtime Database is. Source: https://firebase.google.com/docs/projects/locations#rtdb-locations */
export function realtimeLocationNear(region: string): string {
  if (/^(europe|me|africa)-/.test(region)) return 'europe-west1';
  return /^(asia|australia)-/.test(region) ? 'asia-southeast1' : 'us-central1';
}

/** Where messages end that a consumer has failed at too often: the topic of the function that logs them. */
export function deadLetterTopic({ functions }: Pick<Declared, 'functions'>): string | undefined {
  return functions.find(({ topic, retries }) => topic !== undefined && !retries)?.topic;
}

/**
 * Whether a subscription is the one of a consumer that retries, and therefore needs one. Eventarc names it after the
 * region and the function.
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

/** The permissions that a deployment needs in the project. */
export const DEPLOYING: readonly string[] = [
  ...new Set([
    ...permissions.always,
    ...Object.values(permissions.methods).flat(),
    ...Object.values(permissions.cli).flat(),
  ]),
].sort();

/** Roles that together give these permissions. */
export function rolesFor(lacking: readonly string[]): readonly string[] {
  const roles = Object.entries(permissions.roles);
  return roles.filter(([, given]) => lacking.some((one) => given.includes(one))).map(([role]) => role);
}

export function defaultAccountOf(projectNumber: string): string {
  return `${projectNumber}-compute@developer.gserviceaccount.com`;
}

/** Google's own account, as which Pub/Sub gives up messages. */
export function pubSubAgentOf(projectNumber: string): string {
  return `service-${projectNumber}@gcp-sa-pubsub.iam.gserviceaccount.com`;
}
