/** Registers this browser at Firebase Cloud Messaging, and stores its token where the server looks for it. */
import { deleteToken, getMessaging, getToken } from 'firebase/messaging';
import { PUSH_WORKER, trustedScript } from '../parts/trustedScripts.ts';
import { connection, idToken } from '../session/session.ts';

/** A browser that gets the push messages of a person. */
export interface PushDevice {
  readonly uid: string;
  readonly device: string;
  /** Key with which the browser has subscribed. */
  readonly key: string;
}

/** Time that a person waits at most for each part of signing out. */
const PATIENCE_MS = 3000;

/** Registers the browser, or renews its registration. */
export async function register(own: PushDevice): Promise<void> {
  const token = await tokenOf(own);
  await write(own, { token, registered_at: { '.sv': 'timestamp' } });
}

/** Deletes the token from Muster and from Cloud Messaging, as far as both respond in time. */
export async function unregister(own: PushDevice): Promise<void> {
  const deleted = tokenOf(own).then(() => deleteToken(getMessaging(connection().app)));
  await Promise.all([inTime(write(own, null)), inTime(deleted)]);
}

async function tokenOf({ key }: PushDevice): Promise<string> {
  await navigator.serviceWorker.register(trustedScript(PUSH_WORKER));
  const serviceWorkerRegistration = await navigator.serviceWorker.ready;
  return getToken(getMessaging(connection().app), { vapidKey: key, serviceWorkerRegistration });
}

/**
 * Writes the browser's entry in the Realtime Database through its REST API, under the security rules. The tools do not
 * accept every uid in a path, and the database's own write functions would enlarge every page.
 * @throws Error if the database refuses
 */
async function write({ uid, device }: PushDevice, entry: object | null): Promise<void> {
  const place = new URL(`devices/${keyOf(uid)}/${device}.json`, connection().deployment.firebase.databaseURL);
  place.searchParams.set('auth', await idToken());
  const { ok, status } = await fetch(place, { method: 'PUT', body: JSON.stringify(entry) });
  if (!ok) throw new Error(`HTTP ${status}`);
}

/** Returns the key of a person in a URL. Source: `keyOf` in functions/src/kernel/ids.ts. */
function keyOf(uid: string): string {
  const key = uid.replace(/[.#$[\]/%]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return encodeURIComponent(key);
}

function inTime(work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}
