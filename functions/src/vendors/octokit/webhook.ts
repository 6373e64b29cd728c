/** GitHub webhook. Source: https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries */
import { Service } from '../../kernel/ports.ts';

interface Received {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Returns the body as received, because the signature covers these bytes. */
  readonly body: () => Promise<Uint8Array>;
}

export interface Reply {
  readonly status: 202 | 204 | 400 | 401 | 405 | 503;
  /** Text that GitHub shows with the delivery. */
  readonly text: string;
}

const REPLIES = {
  noted: { status: 202, text: 'Accepted.' },
  ignored: { status: 204, text: '' },
  malformed: { status: 400, text: 'Invalid delivery. Set the content type of the webhook to application/json.' },
} as const;

/** Form of a signature. The body is read only if the signature has this form. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

const NOT_SIGNED: Reply = {
  status: 401,
  text: 'Invalid signature. Set the secret of the webhook to the value of GITHUB_WEBHOOK_SECRET.',
};

export class GitHubWebhook extends Service<{
  readonly secret: () => string | undefined;
  readonly deliveries: { receive(event: string, body: string): Promise<keyof typeof REPLIES> };
}> {
  /** Responds with status 2xx only after all data is stored, so that GitHub shows an unstored delivery as failed. */
  async receive({ method, headers, body }: Received): Promise<Reply> {
    if (method !== 'POST') return { status: 405, text: 'POST only.' };
    const secret = this.ports.secret();
    if (secret === undefined) return { status: 503, text: 'GITHUB_WEBHOOK_SECRET is not set.' };
    const signature = headers['x-hub-signature-256'];
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return NOT_SIGNED;
    const text = new TextDecoder().decode(await body());
    if (!(await isSigned(secret, text, signature))) return NOT_SIGNED;
    return REPLIES[await this.ports.deliveries.receive(String(headers['x-github-event']), text)];
  }
}

async function isSigned(secret: string, text: string, signature: string): Promise<boolean> {
  const { Webhooks } = await import('@octokit/webhooks');
  return text !== '' && new Webhooks({ secret }).verify(text, signature);
}
