/**
 * A local push service with the parts of FCM's HTTP v1 API that Muster uses. Messages to device tokens that start
 * with `gone`, `bad` or `down` fail, all others succeed. Source:
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { LocalServer } from '../listening.ts';

const request = z.object({
  message: z.looseObject({
    token: z.string(),
    notification: z.object({ title: z.string(), body: z.string() }),
    data: z.record(z.string(), z.string()),
    // FCM also accepts field names in snake case, but the SDK sends camel case. FCM opens only https links.
    webpush: z.strictObject({
      notification: z.object({ tag: z.string() }),
      fcmOptions: z.strictObject({ link: z.url({ protocol: /^https$/ }) }).optional(),
    }),
  }),
});
export type Pushed = z.output<typeof request>['message'];

/** For each failure: HTTP status, status of google.rpc.Status, and FCM's own error code. */
const FAILURES = {
  gone: [404, 'NOT_FOUND', 'UNREGISTERED'],
  bad: [400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
  down: [500, 'INTERNAL', 'INTERNAL'],
} as const satisfies Record<string, readonly [code: number, status: string, errorCode: string]>;

export class LocalFcm extends LocalServer {
  /** Accepted messages, in order of arrival. */
  readonly taken: Pushed[] = [];
  /** Device tokens for which every message fails with status 500. */
  readonly down = new Set<string>();
  /** Called before each response. */
  arrived: () => Promise<void> = async () => undefined;
  protected readonly server: Server;

  constructor() {
    super();
    this.server = createServer((incoming, response) => void this.answer(incoming, response));
  }

  /** Returns the messages that the device with this token has received. */
  of(token: string): readonly Pushed[] {
    return this.taken.filter((message) => message.token === token);
  }

  private async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const isSend = /^\/v1\/projects\/[^/]+\/messages:send$/.test(incoming.url ?? '');
    const isAuthorized = /^Bearer \S+$/.test(incoming.headers.authorization ?? '');
    const read = request.safeParse(JSON.parse(await text(incoming)));
    await this.arrived();
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (!isSend || !isAuthorized || !read.success) return reply(400, failure('bad'));
    const { message } = read.data;
    const kind = this.down.has(message.token) ? 'down' : kindOf(message.token);
    if (kind !== undefined) return reply(FAILURES[kind][0], failure(kind));
    this.taken.push(message);
    reply(200, { name: `projects/demo-muster/messages/${this.taken.length}` });
  }
}

function kindOf(token: string): keyof typeof FAILURES | undefined {
  if (token.startsWith('gone')) return 'gone';
  if (token.startsWith('bad')) return 'bad';
  return token.startsWith('down') ? 'down' : undefined;
}

function failure(kind: keyof typeof FAILURES): object {
  const [code, status, errorCode] = FAILURES[kind];
  const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }];
  return { error: { code, status, message: status, details } };
}
