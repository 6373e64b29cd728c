/** Registers this browser at Firebase Cloud Messaging, and stores its token where the server looks for it. */
import { deleteToken, getMessaging, getToken } from 'firebase/messaging';
import { z } from 'zod/mini';
import { callTool } from '../calls/tools.ts';
import { PUSH_WORKER, trustedScript } from '../parts/trustedScripts.ts';
import { connection } from '../session/session.ts';

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
  await write(own, 'set', { token, registered_at: { '.sv': 'timestamp' } });
}

/** Deletes the token from Muster and from Cloud Messaging, as far as both respond in time. */
export async function unregister(own: PushDevice): Promise<void> {
  const deleted = tokenOf(own).then(() => deleteToken(getMessaging(connection().app)));
  await Promise.all([inTime(write(own, 'delete', {})), inTime(deleted)]);
}

async function tokenOf({ key }: PushDevice): Promise<string> {
  await navigator.serviceWorker.register(trustedScript(PUSH_WORKER));
  const serviceWorkerRegistration = await navigator.serviceWorker.ready;
  return getToken(getMessaging(connection().app), { vapidKey: key, serviceWorkerRegistration });
}

/**
 * Writes the browser's entry in the Realtime Database, under the security rules. The tool serves instead of the
 * database's own module, because this module would enlarge every page. A repeated write has no effect.
 */
async function write({ uid, device }: PushDevice, operation: 'set' | 'delete', data: object): Promise<void> {
  const path = `devices/${uid}/${device}`;
  await callTool('firebase.write', { database: 'realtime', path, operation, data }, z.object({}));
}

function inTime(work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}
