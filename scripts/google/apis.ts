/** Where Google's APIs are. This is the one place that says so: tests have them on this machine. */
import { isSafeAddress } from '../../functions/src/kernel/platform.ts';

/** Each by the name of its service, which is its host, too, and is what a project has enabled or has not. */
export type Api = `${string}.googleapis.com`;

/**
 * The address of something that an API has.
 * @param path from the API's version on: `v1/projects/my-project/databases`
 * @param origin instead of Google, a server on which each API is below a folder of its name
 */
export function addressOf(api: Api, path: string, origin?: string): string {
  return `${origin === undefined ? `https://${api}` : `${origin}/${api}`}/${path}`;
}

/** The same for something that has a host of its own, such as a Realtime Database. */
export function addressAt(url: string, origin?: string): string {
  const { host, pathname } = new URL(url);
  return origin === undefined ? url : `${origin}/${host}${pathname}`;
}

/** Instead of Google, as the environment says. A token goes there, so it is this machine or speaks TLS. */
export function originIn(env: NodeJS.ProcessEnv): string | undefined {
  const origin = env['MUSTER_GOOGLE_URL']?.replace(/\/+$/, '');
  if (origin === undefined || origin === '') return undefined;
  if (!isSafeAddress(origin))
    throw new Error(`MUSTER_GOOGLE_URL is ${origin}: it must be https, or on this machine.`);
  return origin;
}

/** By which variable the Firebase CLI is told where each API is. Source: firebase-tools, src/api.ts */
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

/** The environment in which the CLI asks the same APIs as everything else here. */
export function cliEnvironment(origin: string | undefined): Readonly<Record<string, string>> {
  if (origin === undefined) return {};
  return Object.fromEntries(Object.entries(CLI_VARIABLES).map(([name, api]) => [name, `${origin}/${api}`]));
}
