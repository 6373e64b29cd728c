/** Client that calls Muster's tools over plain JSON-RPC. See docs/guides/json-rpc.md. */
import { z } from 'zod';
import { fetchThroughProxy } from '../../../runner/src/hub/fetching.ts';
import { Mistake } from './mistake.ts';

/** Timeout of a request. Any successful call takes less time, even if an instance has to start first. */
const TIMEOUT_MS = 60_000;

const failure = z.object({
  message: z.string(),
  data: z.looseObject({ suggestion: z.string().optional() }).optional(),
});
const answer = z.object({ id: z.number(), result: z.unknown(), error: failure.optional() });
const refusal = z.object({ error: failure });

export interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export class Hub {
  private readonly url: URL;
  private readonly token: string;

  /** @param endpoint URL of `/mcp`; a workspace in its query is preserved */
  constructor(endpoint: URL, token: string) {
    this.url = new URL(endpoint);
    this.url.pathname = `${endpoint.pathname.replace(/\/$/, '')}/rpc`;
    this.token = token;
  }

  /**
   * Sends several calls in one request and returns their results in order.
   * @param end signal that aborts the request
   * @throws Mistake if a call is refused, or the hub is unreachable
   */
  async call(calls: readonly Call[], end?: AbortSignal): Promise<unknown[]> {
    const body = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    const response = await this.send(JSON.stringify(body), end);
    const parsedBody: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw new Mistake(refused(response.status, parsedBody));
    const answers = z.array(answer).safeParse(parsedBody);
    if (!answers.success) throw new Mistake(`The response from ${this.url} is not from a Muster hub. Check --url.`);
    return answers.data.map(({ id, result, error }) => {
      if (error !== undefined) throw new Mistake(`${calls[id]?.method}: ${sentence(error)}`);
      return result;
    });
  }

  private async send(body: string, end?: AbortSignal): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' };
    const patience = AbortSignal.timeout(TIMEOUT_MS);
    const signal = end === undefined ? patience : AbortSignal.any([patience, end]);
    try {
      return await fetchThroughProxy(this.url)(this.url, { method: 'POST', headers, body, signal });
    } catch (error) {
      const cause = error instanceof Error && error.message === 'fetch failed' ? error.cause : error;
      throw new Mistake(`Cannot reach ${this.url.origin}: ${String(cause)}. Check --url.`);
    }
  }
}

function refused(status: number, body: unknown): string {
  const parsed = refusal.safeParse(body);
  const reason = parsed.success ? sentence(parsed.data.error) : '';
  const advice = status === 401 ? 'Set MUSTER_TOKEN to the credential of an agent.' : '';
  return `The hub refused the request (HTTP ${status}). ${reason} ${advice}`.trim();
}

const sentence = ({ message, data }: z.output<typeof failure>): string =>
  [message, data?.suggestion].filter(Boolean).join(' ');
