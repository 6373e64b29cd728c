/** One request to GitHub: with a limit to our patience, a token made anew where it was refused, and our errors. */

import type { Octokit } from '@octokit/core';
import { failureOf, isUnanswered, refusalOf } from './failure.ts';

/** The version of the API that Muster was written against. */
const API_VERSION = '2022-11-28';

/**
 * @param route as GitHub's documentation writes it: `GET /repos/{owner}/{repo}`
 * @throws MusterError
 */
export async function ask(client: Client, route: string, parameters: Asking): Promise<Answer> {
  try {
    return await attempt(client, route, parameters);
  } catch (error) {
    throw failureOf(error, route);
  }
}

/** The same; GitHub's 404 is undefined. */
export async function find(client: Client, route: string, parameters: Asking): Promise<Answer | undefined> {
  return unless(client, route, parameters, ({ status }) => (status === 404 ? 'missing' : undefined)).then(
    (answer) => (answer === 'missing' ? undefined : answer),
  );
}

/** The same; a refusal that `recognise` knows is its word for it. */
export async function unless<Word extends string>(
  client: Client,
  route: string,
  parameters: Asking,
  recognise: (refusal: { readonly status: number; readonly text: string }) => Word | undefined,
): Promise<Answer | Word> {
  return recognised(client, route, parameters, (error) => wordFor(error, recognise));
}

/**
 * The same, sent once: what creates something would create it twice. `unanswered` where GitHub may have done it all
 * the same.
 */
export async function once<Word extends string>(
  client: Client,
  route: string,
  parameters: Asking,
  recognise: (refusal: { readonly status: number; readonly text: string }) => Word | undefined,
): Promise<Answer | Word | 'unanswered'> {
  const sent = { ...parameters, request: { retries: 0 } };
  const recogniseLoss = (error: unknown) => (isUnanswered(error) ? 'unanswered' : undefined);
  return recognised(client, route, sent, (error) => wordFor(error, recognise) ?? recogniseLoss(error));
}

async function recognised<Word extends string>(
  client: Client,
  route: string,
  parameters: Asking,
  recognise: (error: unknown) => Word | undefined,
): Promise<Answer | Word> {
  try {
    return await attempt(client, route, parameters);
  } catch (error) {
    const word = recognise(error);
    if (word !== undefined) return word;
    throw failureOf(error, route);
  }
}

function wordFor<Word extends string>(
  error: unknown,
  recognise: (refusal: { readonly status: number; readonly text: string }) => Word | undefined,
): Word | undefined {
  const refusal = refusalOf(error);
  return refusal?.answered ? recognise(refusal) : undefined;
}

async function attempt(client: Client, route: string, parameters: Asking): Promise<Answer> {
  try {
    return await unlessUnchanged(client, route, parameters, (asked) => patiently(client, route, asked));
  } catch (error) {
    if (!client.renewable || refusalOf(error)?.status !== 401) throw error;
    // Withdrawn before its time; the SDK makes a new one only when the old one's time is over.
    await client.octokit.auth({ type: 'installation', refresh: true });
    return unlessUnchanged(client, route, parameters, (asked) => patiently(client, route, asked));
  }
}

/** What is still waiting for its turn when our patience ends is never sent. */
async function patiently(client: Client, route: string, parameters: Asking): Promise<Answer> {
  const impatience = new AbortController();
  const { request, headers, ...rest } = parameters;
  const sent = client.octokit.request(route, {
    ...rest,
    headers: { 'x-github-api-version': API_VERSION, ...asObject(headers) },
    request: { ...asObject(request), signal: impatience.signal },
  });
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const reason = new DOMException('GitHub took too long.', 'AbortError');
      impatience.abort(reason);
      reject(reason);
    }, client.timeoutMilliseconds);
  });
  try {
    const { status, headers: answered, data } = await Promise.race([sent, end]);
    return { route, status, headers: answered, data };
  } finally {
    clearTimeout(timer);
  }
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

// What a request to GitHub is made of, and whose it is.

export interface Client {
  readonly octokit: Octokit;
  /** Whether a token of the App's installation stands behind it, which can be had anew. */
  readonly renewable: boolean;
  /** By which answers are kept apart; none are kept without it. */
  readonly credential?: string;
  readonly known: KnownAnswers;
  readonly timeoutMilliseconds: number;
}

export interface Answer {
  readonly route: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly data: unknown;
}

export interface Asking {
  /** Beside the template's variables: the query or the body. `headers` and `request` are octokit's. */
  readonly [parameter: string]: unknown;
}

/** What GitHub has answered, with its ETags, as far as there is room. */

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

// Asks GitHub only whether something has changed that is known: a 304 costs nothing of the rate limit.
// GitHub decides about access again each time, and what one credential was answered is shown to no other.
// Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api

/** Sends a request for what may be known: files and lists of a repository. Whatever else is sent as it is. */
async function unlessUnchanged(
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
