/** Deployment of this page: the Firebase project, and the URL of the tools. */
import { z } from 'zod/mini';

const firebaseSettings = z.object({
  apiKey: z.string(),
  projectId: z.string(),
  authDomain: z.exactOptional(z.string()),
  databaseURL: z.exactOptional(z.string()),
  appId: z.exactOptional(z.string()),
  messagingSenderId: z.exactOptional(z.string()),
});

const person = z.object({ name: z.string(), email: z.string(), password: z.string() });

/** Emulator settings from `npm start`. Source: scripts/emulators/hosting.mjs. */
const local = z.object({
  firebase: firebaseSettings,
  endpoint: z.string(),
  emulators: z.object({ auth: z.string(), firestore: z.string(), database: z.string() }),
  people: z.array(person),
});

export type SeededPerson = z.infer<typeof person>;

export interface Deployment {
  readonly firebase: z.infer<typeof firebaseSettings>;
  /** URL of the function, `https://…/mcp`. Hosting would buffer streams, and end them after a minute. */
  readonly endpoint: string;
  /** Public URL for clients. People also sign in there. */
  readonly address: string;
  /** Public key of the Web Push certificate. Without it, the page cannot get push messages. */
  readonly pushKey?: string;
  /** Addresses of local emulators, such as `127.0.0.1:9099`. */
  readonly emulators?: { readonly auth: string; readonly firestore: string; readonly database: string };
  /** Demo accounts for sign-in with one click, only with the emulators. */
  readonly people?: readonly SeededPerson[];
}

/** Firebase Hosting serves the project's settings. Source: https://firebase.google.com/docs/hosting/reserved-urls. */
const SETTINGS_URL = '/__/firebase/init.json';

/** @throws Error if Firebase Hosting does not serve the page */
export async function loadDeployment(): Promise<Deployment> {
  if (import.meta.env.MODE === 'emulators') return atItsEndpoint(local.parse(await json('/emulators.json')));
  const firebase = firebaseSettings.parse(await json(SETTINGS_URL));
  const endpoint = `https://${__REGION__}-${firebase.projectId}.cloudfunctions.net/mcp`;
  // Cloud Messaging registers browsers of a web app.
  const hasPush = __WEB_PUSH_KEY__ !== '' && firebase.appId !== undefined && firebase.messagingSenderId !== undefined;
  return { firebase, endpoint, address: __ADDRESS__ || endpoint, ...(hasPush && { pushKey: __WEB_PUSH_KEY__ }) };
}

function atItsEndpoint(settings: z.infer<typeof local>): Deployment {
  return { ...settings, address: settings.endpoint };
}

async function json(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} is answered with ${response.status}.`);
  return response.json();
}
