/** Sends push notifications through Firebase Cloud Messaging. */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { type App, getApps, initializeApp } from 'firebase-admin/app';
import type { Message } from 'firebase-admin/messaging';
import { loadedOnce } from '../../kernel/memoCache.ts';
import { firebaseApp } from '../../kernel/realtime/database.ts';
import type { Notification, PushService } from '../../toolsets/todo/index.ts';

/**
 * Error codes of devices that are no longer registered, and of messages that a device never accepts. Source:
 * https://firebase.google.com/docs/cloud-messaging/error-codes
 */
const UNREGISTERED = ['messaging/registration-token-not-registered'];
const REFUSED = [
  'messaging/invalid-argument',
  'messaging/invalid-registration-token',
  'messaging/mismatched-credential',
  'messaging/third-party-auth-error',
];

export function fcmPushService(app: () => Promise<App>): PushService {
  const messaging = loadedOnce(async () => (await import('firebase-admin/messaging')).getMessaging(await app()));
  return {
    async send(token, notification) {
      const client = await messaging();
      try {
        await client.send(messageTo(token, notification));
        return 'sent';
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : '';
        if (UNREGISTERED.includes(code)) return 'unregistered';
        return REFUSED.includes(code) ? 'refused' : 'unreachable';
      }
    },
  };
}

/**
 * The id of the notification is the tag, so that a device shows a repeated push once. FCM accepts only HTTPS links.
 * In the emulators, the console has no HTTPS link, so only the data contains the link. Source:
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages#webpushfcmoptions
 */
export function messageTo(token: string, { id, about, title, body, link, at }: Notification): Message {
  return {
    token,
    notification: { title, body },
    data: { event_id: id, ...about, link, timestamp: at.toISOString() },
    android: { collapseKey: id, notification: { tag: id } },
    apns: { headers: { 'apns-collapse-id': id.slice(0, 64) } },
    webpush: { notification: { tag: id }, ...(link.startsWith('https:') && { fcmOptions: { link } }) },
  };
}

/** Returns an app that sends push notifications to a local service. @param url such as `http://127.0.0.1:1234` */
export async function localMessagingApp(url: string): Promise<App> {
  const name = `messaging at ${url}`;
  const { hostname, port } = new URL(url);
  const known = getApps().find((app) => app.name === name);
  return (
    known ??
    initializeApp(
      {
        ...firebaseApp().options,
        credential: { getAccessToken: async () => ({ access_token: 'owner', expires_in: 3600 }) },
        // Redirects the requests of the SDK to the local service, which has no TLS.
        httpAgent: Object.assign(new Agent({ keepAlive: false }), {
          protocol: 'https:', // The SDK requires this value.
          createConnection: () => connect(Number(port), hostname),
        }),
      },
      name,
    )
  );
}
