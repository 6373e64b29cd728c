/**
 * Notifications of the browser, while the page is open but not in front. Push messages to a closed page need Firebase
 * Cloud Messaging. Source: https://developer.mozilla.org/docs/Web/API/Notification.
 */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Request } from '../live/documents.ts';
import { addressOf, go } from '../router.ts';
import { SHOWN_QUESTION } from './screens.ts';

type State = NotificationPermission | 'unsupported';

export const notificationState = signal<State>('Notification' in globalThis ? Notification.permission : 'unsupported');

export async function askForNotifications(): Promise<void> {
  notificationState.value = await Notification.requestPermission();
}

/** Shows each question that arrives while the page is not in front. */
export function useNotifications(requests: readonly Request[]): void {
  const known = useRef<ReadonlySet<string> | undefined>(undefined);
  const ids = requests.map(({ id }) => id).join();
  useEffect(() => {
    const before = known.current;
    known.current = new Set([...(before ?? []), ...requests.map(({ id }) => id)]);
    if (before === undefined || notificationState.peek() !== 'granted' || document.hasFocus()) return;
    for (const request of requests) if (!before.has(request.id)) show(request);
  }, [ids]);
}

function show({ id, question }: Request): void {
  const notification = new Notification(question, { tag: id, icon: '/icon.svg' });
  notification.onclick = () => {
    focus();
    go(addressOf([], { [SHOWN_QUESTION]: id }));
    notification.close();
  };
}
