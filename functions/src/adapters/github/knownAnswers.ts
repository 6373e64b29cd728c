/**
 * What GitHub has answered, kept to ask only whether it has changed: a 304 costs nothing of the rate limit. GitHub
 * decides about access again each time, and what one credential was answered is shown to no other.
 * Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
import type { Answer, Asking, Client } from './asking.ts';
import { refusalOf } from './failure.ts';

/** Of all that an instance keeps, and of one answer, in bytes at most. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** What a character may take in memory. */
const BYTES_PER_CHARACTER = 2;

interface Known {
  readonly etag: string;
  /** As JSON, so that nobody changes it and its size is known. */
  readonly json: string;
}

export class KnownAnswers {
  private readonly kept = new Map<string, Known>();
  private bytes = 0;

  find(name: string): Known | undefined {
    return this.kept.get(name);
  }

  /** Keeps an answer as the latest, and drops those that were used longest ago where there is no room. */
  keep(name: string, etag: string, json: string): void {
    this.drop(name);
    const size = json.length * BYTES_PER_CHARACTER;
    if (size > MAX_ANSWER_BYTES) return;
    this.kept.set(name, { etag, json });
    this.bytes += size;
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= MAX_BYTES) return;
      this.drop(oldest);
    }
  }

  private drop(name: string): void {
    const known = this.kept.get(name);
    if (known === undefined) return;
    this.bytes -= known.json.length * BYTES_PER_CHARACTER;
    this.kept.delete(name);
  }
}

/** Sends a request for what may be known: files and lists of a repository. Whatever else is sent as it is. */
export async function unlessUnchanged(
  { known, credential }: Client,
  route: string,
  parameters: Asking,
  send: (parameters: Asking) => Promise<Answer>,
): Promise<Answer> {
  if (!route.startsWith('GET /repos/') || credential === undefined || parameters['request'] !== undefined) {
    return send(parameters);
  }
  const name = JSON.stringify([credential, route, parameters]);
  const before = known.find(name);
  if (before === undefined) return keeping(known, name, await send(parameters));
  try {
    const headers = { ...Object(parameters['headers']), 'if-none-match': before.etag };
    return keeping(known, name, await send({ ...parameters, headers }));
  } catch (error) {
    if (refusalOf(error)?.status !== 304) throw error;
    known.keep(name, before.etag, before.json);
    return { route, status: 200, headers: {}, data: JSON.parse(before.json) };
  }
}

function keeping(known: KnownAnswers, name: string, answer: Answer): Answer {
  const { etag } = answer.headers;
  if (answer.status === 200 && typeof etag === 'string') known.keep(name, etag, JSON.stringify(answer.data));
  return answer;
}
