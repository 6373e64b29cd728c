/** Which deployment the page belongs to: its Firebase project, and the address of its tools. */
import { z } from 'zod/mini';

const firebaseSettings = z.object({
  apiKey: z.string(),
  projectId: z.string(),
  authDomain: z.exactOptional(z.string()),
  databaseURL: z.exactOptional(z.string()),
  appId: z.exactOptional(z.string()),
});

const person = z.object({ name: z.string(), email: z.string(), password: z.string() });

/** What `npm start` tells the page of its emulators. Source: scripts/emulators/hosting.mjs. */
const local = z.object({
  firebase: firebaseSettings,
  endpoint: z.string(),
  emulators: z.object({ auth: z.string(), firestore: z.string(), database: z.string() }),
  people: z.array(person),
});

export type SeededPerson = z.infer<typeof person>;

export interface Deployment {
  readonly firebase: z.infer<typeof firebaseSettings>;
  /** The function's own address, `https://…/mcp`: Hosting would hold streams back, and end them after a minute. */
  readonly endpoint: string;
  /** Where people are told to connect: the public address, at which one signs in. */
  readonly address: string;
  /** `127.0.0.1:9099`, and so on: where the emulators of this machine listen. */
  readonly emulators?: { readonly auth: string; readonly firestore: string; readonly database: string };
  /** Who can sign in with one click, which only emulators' people can. */
  readonly people?: readonly SeededPerson[];
}

/** Firebase Hosting serves the project's settings. Source: https://firebase.google.com/docs/hosting/reserved-urls. */
const SETTINGS_URL = '/__/firebase/init.json';

/** @throws Error where the page is not served by Firebase Hosting */
export async function loadDeployment(): Promise<Deployment> {
  if (import.meta.env.MODE === 'emulators') return atItsEndpoint(local.parse(await json('/emulators.json')));
  const firebase = firebaseSettings.parse(await json(SETTINGS_URL));
  const endpoint = `https://${__REGION__}-${firebase.projectId}.cloudfunctions.net/mcp`;
  return { firebase, endpoint, address: __ADDRESS__ || endpoint };
}

function atItsEndpoint(settings: z.infer<typeof local>): Deployment {
  return { ...settings, address: settings.endpoint };
}

async function json(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} is answered with ${response.status}.`);
  return response.json();
}
