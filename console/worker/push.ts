/**
 * Service worker of the console, the file `/push.js`: shows push messages while no page is open, and opens the page
 * that a notification is about. It stores nothing, sends no requests and answers none.
 */
import { z } from 'zod/mini';
import { push as text } from '../text/push.ts';

declare const self: ServiceWorkerGlobalScope;

const words = z.catch(z.string(), '');
const NOTHING = { title: '', body: '', tag: '', request_id: '', link: '' };

/** Message as Cloud Messaging delivers it. Source: functions/src/vendors/fcm/pushService.ts, in `messageTo`. */
const pushed = z.object({
  notification: z.catch(z.object({ title: words, body: words, tag: words }), NOTHING),
  data: z.catch(z.object({ request_id: words, link: words }), NOTHING),
});

/** Data of a notification, which this worker and console/src/shell/pushMessages.ts set. */
const shown = z.object({ link: words });

// A new version has no state to take over, so it need not wait until all pages are closed.
self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('push', (event) => event.waitUntil(show(contentOf(event.data))));
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(ownAddress(shown.safeParse(event.notification.data).data?.link ?? '')));
});

/** Returns the content of a message, also if it is malformed: a browser revokes push if nothing is shown. */
function contentOf(received: PushMessageData | null) {
  const read = pushed.safeParse(jsonIn(received)).data;
  return { ...NOTHING, ...read?.notification, ...read?.data };
}

function jsonIn(received: PushMessageData | null): unknown {
  try {
    return received?.json();
  } catch {
    return undefined;
  }
}

/** A question has its id as tag, so that it replaces the notification that an open page has shown of it. */
async function show({ title, body, tag, request_id: question, link }: ReturnType<typeof contentOf>): Promise<void> {
  // A page in front shows the question. It does not show reminders.
  if (question !== '' && (await pages()).some(({ focused }) => focused)) return;
  await self.registration.showNotification(title || text.untitled, {
    body,
    tag: question || tag,
    icon: '/icon.svg',
    data: { link },
  });
}

function pages(): Promise<readonly WindowClient[]> {
  return self.clients.matchAll({ type: 'window', includeUncontrolled: true });
}

/** Returns the address of a link's page at the worker's own origin, for a link of any origin. */
function ownAddress(link: string): string {
  const { origin } = self.location;
  if (!URL.canParse(link, origin)) return `${origin}/`;
  const { protocol, pathname, search } = new URL(link, origin);
  return protocol === 'https:' || protocol === 'http:' ? `${origin}${pathname}${search}` : `${origin}/`;
}

/** Shows the address in an open page, which keeps what the person has typed there, or else in a new page. */
async function open(address: string): Promise<void> {
  const open = await pages();
  const page = open.find(({ visibilityState }) => visibilityState === 'visible') ?? open[0];
  if (page === undefined) {
    await self.clients.openWindow(address);
    return;
  }
  await page.focus();
  page.postMessage({ openPage: address });
}
