/**
 * Push messages to this browser while no page is open, through Firebase Cloud Messaging. The service worker
 * console/worker/push.ts shows them. Source: https://developer.mozilla.org/docs/Web/API/Push_API
 */
import { computed } from '@preact/signals';
import { z } from 'zod/mini';
import { preferences as text } from '../../text/preferences.ts';
import { fill } from '../../ui/format.ts';
import { parsed } from '../parts/json.ts';
import { go } from '../router.ts';
import { connection, ownUid } from '../session/session.ts';
import type { PushDevice } from './messaging.ts';
import { forgetPush, PUSH_RECORD, pushRecord, setPushRecord, TURNED_OFF } from './pushRecord.ts';

const pushDevice = z.object({ uid: z.string(), device: z.string(), key: z.string() });

/** This browser, if it gets the push messages of the signed-in person. */
const here = computed((): PushDevice | undefined => {
  const { data } = pushDevice.safeParse(parsed(pushRecord.value ?? ''));
  return data?.uid === ownUid() ? data : undefined;
});

export const isPushOn = computed(() => here.value !== undefined);

// Another page has turned push on or off.
addEventListener('storage', ({ key, newValue }) => {
  if (key === PUSH_RECORD) pushRecord.value = newValue;
});

/** Returns whether push can be turned on in this browser. */
export function isPushOffered(): boolean {
  return connection().deployment.pushKey !== undefined && 'serviceWorker' in navigator && 'PushManager' in globalThis;
}

/** @throws Error with a message for the person, if the browser or Cloud Messaging refuses */
export async function turnOnPush(): Promise<void> {
  const uid = ownUid();
  const { pushKey: key } = connection().deployment;
  if (uid === undefined || key === undefined || !isPushOffered()) return setPushRecord(null);
  try {
    await register({ uid, device: here.value?.device ?? crypto.randomUUID(), key });
  } catch (error) {
    await forgetPush();
    throw new Error(fill(text.notRegistered, { why: error instanceof Error ? error.message : String(error) }));
  }
}

/** Turns off all notifications in this browser, until the person turns them on. */
export async function turnOffPush(): Promise<void> {
  await endPush();
  setPushRecord(TURNED_OFF);
}

/** Stops push messages to this browser while the person can still delete the token, as before a sign-out. */
export async function endPush(): Promise<void> {
  const { value } = here;
  if (value === undefined) return;
  await import('./messaging.ts').then(({ unregister }) => unregister(value)).catch(() => undefined);
  await forgetPush();
}

/** Renews the registration when the page opens, because tokens change and the server keeps the latest devices. */
export async function keepPush(): Promise<void> {
  const { value } = here;
  const { pushKey: key } = connection().deployment;
  const isPossible = isPushOffered() && Notification.permission === 'granted';
  // Another person has signed in, or the deployment or the browser no longer allows push.
  if (value === undefined || key === undefined || !isPossible) return forgetPush();
  if (value.key !== key) await forgetPush(); // The subscription works only with its own key.
  await register({ ...value, key }).catch(() => undefined); // The next page that opens retries.
}

async function register(own: PushDevice): Promise<void> {
  const record = JSON.stringify(own);
  // First, so that a browser with push always has a record. The views follow when the browser is registered.
  localStorage.setItem(PUSH_RECORD, record);
  navigator.serviceWorker.addEventListener('message', onClick); // Adding it again has no effect.
  const messaging = await import('./messaging.ts');
  await messaging.register(own);
  if (localStorage.getItem(PUSH_RECORD) === record) setPushRecord(record);
  else await messaging.unregister(own); // The person has signed out in the meantime.
}

const clicked = z.object({ openPage: z.string() });

/** Opens the page of a notification that the person has clicked. */
function onClick({ data }: MessageEvent<unknown>): void {
  const message = clicked.safeParse(data);
  if (message.success) go(message.data.openPage);
}

/** Shows a notification like the service worker does, so that a push message about the same thing replaces it. */
export async function showPush(title: string, options: NotificationOptions): Promise<void> {
  if (!isPushOn.value) return;
  const registration = await navigator.serviceWorker.getRegistration();
  await registration?.showNotification(title, options);
}
