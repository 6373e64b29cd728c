/** For a service on this machine that speaks FCM's HTTP v1, where tests and demonstrations have one. */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { type App, initializeApp } from 'firebase-admin/app';
import { firebaseApp } from '../admin/firebaseApp.ts';

/** Takes what the SDK sends to Google's host to another, unencrypted. */
class Detour extends Agent {
  readonly protocol = 'https:'; // what the SDK asks of its agent
  private readonly url: URL;

  constructor(url: URL) {
    super({ keepAlive: false });
    this.url = url;
  }

  override createConnection() {
    return connect(Number(this.url.port), this.url.hostname);
  }
}

let app: App | undefined;

/** @param url `http://127.0.0.1:1234` */
export async function localMessagingApp(url: string): Promise<App> {
  app ??= initializeApp(
    {
      ...firebaseApp().options,
      credential: { getAccessToken: async () => ({ access_token: 'owner', expires_in: 3600 }) },
      httpAgent: new Detour(new URL(url)),
    },
    'messaging',
  );
  return app;
}
