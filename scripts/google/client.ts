/** Client of Google's REST APIs for the operator commands. It returns errors instead of throwing them. */
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { connectionCodes } from '../../functions/src/kernel/platform.ts';
import { proxyHint } from '../setup/proxy.mjs';
import { type Api, addressAt, addressOf } from './apis.ts';
import { failureOf, type Result } from './failure.ts';

/** HTTP statuses after which a request is retried, because it can succeed later. */
const MAY_DO_LATER = [429, 503];
/** Error codes of a connection that was reused after the server had closed it. */
const LOST = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];
const ATTEMPTS = 4;
const MAX_PAUSE_MS = 30_000;
const TIMEOUT_MS = 60_000;

type Query = Readonly<Record<string, string>>;

interface Asked<Schema extends z.ZodType> {
  readonly api: Api;
  readonly path: string;
  readonly schema: Schema;
  readonly query?: Query;
}

interface Sent<Schema extends z.ZodType> extends Asked<Schema> {
  readonly method: 'POST' | 'PATCH' | 'PUT';
  readonly body: unknown;
}

export interface GoogleOptions {
  readonly project: string;
  readonly token: () => Promise<string>;
  /** Server that replaces Google; see `addressOf`. */
  readonly origin?: string | undefined;
  readonly pause?: (milliseconds: number) => Promise<void>;
}

export class Google {
  readonly project: string;
  readonly origin: string | undefined;
  readonly token: () => Promise<string>;
  readonly pause: (milliseconds: number) => Promise<void>;

  constructor({ project, token, origin, pause = async (ms) => void (await setTimeout(ms)) }: GoogleOptions) {
    this.project = project;
    this.token = token;
    this.origin = origin;
    this.pause = pause;
  }

  get<Schema extends z.ZodType>(asked: Asked<Schema>): Promise<Result<z.output<Schema>>> {
    return this.request('GET', asked, undefined);
  }

  send<Schema extends z.ZodType>(sent: Sent<Schema>): Promise<Result<z.output<Schema>>> {
    return this.request(sent.method, sent, sent.body);
  }

  /** Returns the text at an address of Google that does not belong to an API. */
  async text(url: string): Promise<Result<string>> {
    const answer = await this.answered('GET', new URL(addressAt(url, this.origin)), undefined);
    return answer.ok ? { ok: true, value: answer.value.text } : answer;
  }

  /** Returns the items of all pages. @param key name of the list in a response, which omits empty lists */
  async list<Item extends z.ZodType>(
    { schema, query, ...asked }: Asked<Item>,
    key: string,
  ): Promise<Result<z.output<Item>[]>> {
    const page = z.looseObject({ nextPageToken: z.string().optional() });
    const items = z.array(schema);
    const found: z.output<Item>[] = [];
    let pageToken: string | undefined;
    do {
      const next: Query = { ...query, ...(pageToken && { pageToken }) };
      const answer = await this.get({ ...asked, query: next, schema: page });
      if (!answer.ok) return answer;
      const read = items.safeParse(answer.value[key] ?? []);
      if (!read.success) return unreadable(asked.path, read.error);
      found.push(...read.data);
      pageToken = answer.value.nextPageToken;
    } while (pageToken);
    return { ok: true, value: found };
  }

  private async request<Schema extends z.ZodType>(
    method: string,
    { api, path, schema, query }: Asked<Schema>,
    body: unknown,
  ): Promise<Result<z.output<Schema>>> {
    const url = new URL(addressOf(api, path, this.origin));
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const sent = await this.answered(method, url, body);
    const answer = sent.ok ? parsed(url, sent.value.text) : sent;
    if (!answer.ok) return answer;
    const read = schema.safeParse(answer.value);
    return read.success ? { ok: true, value: read.data } : unreadable(path, read.error);
  }

  private async answered(method: string, url: URL, body: unknown): Promise<Result<{ readonly text: string }>> {
    const headers = {
      authorization: `Bearer ${await this.token()}`,
      // A person's credentials belong to no project, so each request names the project whose quota it uses.
      'x-goog-user-project': this.project,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    for (let attempt = 1; ; attempt++) {
      const answer = await fetched(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
      if (answer.ok) return answer;
      const { failure, mayDoLater, retryAfter } = answer;
      if (!mayDoLater || attempt === ATTEMPTS) return { ok: false, failure };
      await this.pause(pauseAfter(attempt, retryAfter));
    }
  }
}

async function fetched(url: URL, init: RequestInit) {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { ok, status, headers } = answer;
    const text = await answer.text();
    if (ok) return { ok, value: { text } } as const;
    const retryAfter = headers.get('retry-after');
    const mayDoLater = MAY_DO_LATER.includes(status);
    return { ok: false, failure: failureOf(status, text), mayDoLater, retryAfter } as const;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message || cause.name : String(cause);
    const failure = { status: 0, message: `${url.host} did not respond: ${why}${proxyHint(process.env)}` };
    const isLost = connectionCodes(error).some((code) => LOST.includes(code));
    return { ok: false, failure, mayDoLater: init.method === 'GET' && isLost, retryAfter: null } as const;
  }
}

/** Parses a response. A proxy between this machine and Google can respond with an HTML page. */
function parsed({ host }: URL, text: string): Result<unknown> {
  try {
    return { ok: true, value: text === '' ? {} : JSON.parse(text) };
  } catch {
    return { ok: false, failure: { status: 200, message: `${host} did not respond with JSON.` } };
  }
}

/** @param retryAfter seconds, if the server specifies them */
function pauseAfter(attempt: number, retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? '');
  return Math.min(MAX_PAUSE_MS, seconds > 0 ? seconds * 1000 : 1000 * 2 ** (attempt - 1));
}

function unreadable(path: string, error: z.ZodError): Result<never> {
  return {
    ok: false,
    failure: { status: 200, message: `Unreadable response from ${path}: ${z.prettifyError(error)}` },
  };
}
