/** Addresses of Google's APIs. No other file contains them, so that tests can replace them with local ones. */
import { isSafeAddress } from '../../functions/src/kernel/platform.ts';

/** Name of the API's service. It is also the API's host, and the name with which the API is enabled. */
export type Api = `${string}.googleapis.com`;

/**
 * Returns the address of a resource of an API.
 * @param path with the API's version: `v1/projects/my-project/databases`
 * @param origin server that replaces Google and has a folder per API
 */
export function addressOf(api: Api, path: string, origin?: string): string {
  return `${origin === undefined ? `https://${api}` : `${origin}/${api}`}/${path}`;
}

/** Like `addressOf`, for a resource that has its own host, such as a Realtime Database. */
export function addressAt(url: string, origin?: string): string {
  const { host, pathname } = new URL(url);
  return origin === undefined ? url : `${origin}/${host}${pathname}`;
}

/** Returns the server that replaces Google, if one is set. It gets access tokens, so it must be local or use TLS. */
export function originIn(env: NodeJS.ProcessEnv): string | undefined {
  const origin = env['MUSTER_GOOGLE_URL']?.replace(/\/+$/, '');
  if (origin === undefined || origin === '') return undefined;
  if (!isSafeAddress(origin))
    throw new Error(`MUSTER_GOOGLE_URL is ${origin}, but must use https or be on this machine.`);
  return origin;
}

/** Variables that set the Firebase CLI's API addresses. Source: firebase-tools, src/api.ts */
const CLI_VARIABLES: Readonly<Record<string, Api>> = {
  CLOUD_RUN_API_URL: 'run.googleapis.com',
  CLOUD_RUN_URL: 'run.googleapis.com',
  CLOUD_SECRET_MANAGER_URL: 'secretmanager.googleapis.com',
  EVENTARC_URL: 'eventarc.googleapis.com',
  FIREBASE_API_URL: 'firebase.googleapis.com',
  FIREBASE_CLOUDSCHEDULER_URL: 'cloudscheduler.googleapis.com',
  FIREBASE_CLOUD_TAKS_URL: 'cloudtasks.googleapis.com',
  FIREBASE_FUNCTIONS_URL: 'cloudfunctions.googleapis.com',
  FIREBASE_FUNCTIONS_V2_URL: 'cloudfunctions.googleapis.com',
  FIREBASE_HOSTING_API_URL: 'firebasehosting.googleapis.com',
  FIREBASE_IAM_URL: 'iam.googleapis.com',
  FIREBASE_PUBSUB_URL: 'pubsub.googleapis.com',
  FIREBASE_RESOURCEMANAGER_URL: 'cloudresourcemanager.googleapis.com',
  FIREBASE_RTDB_MANAGEMENT_URL: 'firebasedatabase.googleapis.com',
  FIREBASE_RULES_URL: 'firebaserules.googleapis.com',
  FIREBASE_SERVICE_USAGE_URL: 'serviceusage.googleapis.com',
  FIRESTORE_URL: 'firestore.googleapis.com',
};

/** Returns environment variables that make the Firebase CLI call the server that replaces Google. */
export function cliEnvironment(origin: string | undefined): Readonly<Record<string, string>> {
  if (origin === undefined) return {};
  return Object.fromEntries(Object.entries(CLI_VARIABLES).map(([name, api]) => [name, `${origin}/${api}`]));
}
