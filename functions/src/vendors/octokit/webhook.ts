/** GitHub's signed deliveries. Source: https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries */
import { Service } from '../../kernel/ports.ts';

interface Received {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Reads the bytes as they came: the signature is over them. */
  readonly body: () => Promise<Uint8Array>;
}

export interface Reply {
  readonly status: 202 | 204 | 400 | 401 | 405 | 503;
  /** For whoever looks at the delivery in GitHub. */
  readonly text: string;
}

const REPLIES = {
  noted: { status: 202, text: 'Noted.' },
  ignored: { status: 204, text: '' },
  malformed: { status: 400, text: 'This is not as GitHub describes it. Choose application/json.' },
} as const;

/** What has another shape is none, and its body need not be read. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

const NOT_SIGNED: Reply = {
  status: 401,
  text: 'The signature is not right. The webhook needs the secret that GITHUB_WEBHOOK_SECRET holds.',
};

interface WebhookPorts {
  readonly secret: () => string | undefined;
  readonly deliveries: { receive(event: string, body: string): Promise<keyof typeof REPLIES> };
}

export class GitHubWebhook extends Service<WebhookPorts> {
  /** Answers 2xx only once all is stored, so that GitHub shows a delivery that failed as such. */
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
