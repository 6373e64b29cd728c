/**
 * Notifications of the browser, while the page is open but not in front. If the deployment has a key for Web Push,
 * `pushMessages.ts` adds those to a closed page. Source: https://developer.mozilla.org/docs/Web/API/Notification.
 */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Request } from '../live/documents.ts';
import { addressOf, go } from '../router.ts';
import { connection, leave } from '../session/session.ts';
import { pushRecord } from './pushRecord.ts';
import { SHOWN_QUESTION } from './screens.ts';

const pushMessages = () => import('./pushMessages.ts');

/**
 * Acts with the code for push messages if this browser has a record of them; returns whether it has. If the code cannot
 * be loaded, the page works like a page without push messages.
 */
async function ifPush(act: (code: Awaited<ReturnType<typeof pushMessages>>) => Promise<void>): Promise<boolean> {
  if (pushRecord.peek() === null) return false;
  return pushMessages()
    .then(act)
    .then(
      () => true,
      () => false,
    );
}

type State = NotificationPermission | 'unsupported';

export const notificationState = signal<State>('Notification' in globalThis ? Notification.permission : 'unsupported');

/** @throws Error if the browser cannot be registered for push messages */
export async function turnOnNotifications(): Promise<void> {
  notificationState.value = await Notification.requestPermission();
  if (notificationState.value !== 'granted' || connection().deployment.pushKey === undefined) return;
  await (await pushMessages()).turnOnPush();
}

/** Signs out. Before, removes this browser from those that get the person's push messages. */
export async function signOut(): Promise<void> {
  await ifPush(({ endPush }) => endPush());
  await leave();
}

/**
 * Shows each question that arrives while the page is not in front.
 * @param requests undefined while they load, so that those that already waited are not shown as new
 */
export function useNotifications(requests: readonly Request[] | undefined): void {
  const known = useRef<ReadonlySet<string> | undefined>(undefined);
  useEffect(() => void ifPush(({ keepPush }) => keepPush()), []);
  const ids = requests?.map(({ id }) => id).join();
  // Without delay, because whether the page is in front may change.
  useLayoutEffect(() => {
    if (requests === undefined) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...requests.map(({ id }) => id)]);
    if (before === undefined || notificationState.peek() !== 'granted' || document.hasFocus()) return;
    for (const request of requests) if (!before.has(request.id)) void show(request);
  }, [ids]);
}

async function show({ id, question }: Request): Promise<void> {
  const address = addressOf([], { [SHOWN_QUESTION]: id });
  const options = { tag: id, icon: '/icon.svg' };
  if (await ifPush(({ showPush }) => showPush(question, { ...options, data: { link: address } }))) return;
  const notification = new Notification(question, options);
  notification.onclick = () => {
    focus();
    go(address);
    notification.close();
  };
}
