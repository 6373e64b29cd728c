/** Record of notifications in this browser. Only a browser with a record loads `pushMessages.ts`. */
import { signal } from '@preact/signals';

export const PUSH_RECORD = 'muster.push';

/** Record of a browser in which the person has turned notifications off. */
export const TURNED_OFF = 'off';

/** JSON of the browser if it gets push messages, or `TURNED_OFF`; null if the person has chosen neither. */
export const pushRecord = signal(localStorage.getItem(PUSH_RECORD));

export function setPushRecord(record: string | null): void {
  if (record === null) localStorage.removeItem(PUSH_RECORD);
  else localStorage.setItem(PUSH_RECORD, record);
  pushRecord.value = record;
}

/** Stops push messages to this browser, also without a signed-in person. The server deletes tokens that do not work. */
export async function forgetPush(): Promise<void> {
  const record = localStorage.getItem(PUSH_RECORD);
  if (record === null || record === TURNED_OFF) return;
  setPushRecord(null);
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  await subscription?.unsubscribe();
  await registration?.unregister();
}
