/** One request to GitHub: given up after a time, with a token made anew where it was refused, and our errors. */

import type { Octokit } from '@octokit/core';
import { Service } from '../../kernel/ports.ts';
import { within } from '../../kernel/waiting.ts';
import {
  type GitHubAnswer,
  type GitHubClient,
  type RecogniseRefusal,
  type RequestParameters,
  refusal,
} from '../../toolsets/github/index.ts';
import { failureOf, isUnanswered, refusalOf } from './failure.ts';

/** The version of the API that Muster was written against. */
const API_VERSION = '2022-11-28';

/** Beside what the route's documentation names, how octokit sends it. */
interface SentParameters extends RequestParameters {
  readonly request?: { readonly redirect?: 'manual'; readonly retries?: number };
}

interface ClientSettings {
  readonly octokit: Octokit;
  /** Whether a token of the App's installation stands behind it, which can be had anew. */
  readonly renewable?: boolean;
  /** By which answers are kept apart; none are kept without it. */
  readonly credential?: string;
  readonly known: KnownAnswers;
  readonly timeoutMilliseconds: number;
}

export class OctokitClient extends Service<ClientSettings> implements GitHubClient {
  ask(route: string, parameters: RequestParameters): Promise<GitHubAnswer> {
    return this.send<never>(route, parameters, () => undefined);
  }

  async find(
    route: string,
    parameters: SentParameters,
    missing: readonly number[] = [404],
  ): Promise<GitHubAnswer | undefined> {
    const answer = await this.send(route, parameters, (error) => {
      const refused = refusalOf(error);
      return refused?.answered && missing.includes(refused.status) ? 'missing' : undefined;
    });
    return answer === 'missing' ? undefined : answer;
  }

  /** GitHub answers with a short-lived address elsewhere, which is fetched without our token. */
  async download(route: string, parameters: RequestParameters, most: number): Promise<string | undefined> {
    const answer = await this.find(route, { ...parameters, request: { redirect: 'manual' } }, [404, 410]);
    if (answer === undefined) return undefined;
    const { location } = answer.headers;
    if (typeof location === 'string' && URL.canParse(location)) return endOfText(location, route, most);
    const cause = `${route}: ${answer.status} without an address`;
    throw refusal('GITHUB_ERROR', 'unavailable', { cause });
  }

  once<Word extends string>(
    route: string,
    parameters: RequestParameters,
    recognise: RecogniseRefusal<Word>,
  ): Promise<GitHubAnswer | Word | 'unanswered'> {
    return this.send(route, { ...parameters, request: { retries: 0 } }, (error) => {
      const refused = refusalOf(error);
      const word = refused?.answered ? recognise(refused) : undefined;
      return word ?? (isUnanswered(error) ? 'unanswered' : undefined);
    });
  }

  /** @throws MusterError for what `recognise` has no word for */
  private async send<Word extends string>(
    route: string,
    parameters: SentParameters,
    recognise: (error: unknown) => Word | undefined,
  ): Promise<GitHubAnswer | Word> {
    try {
      return await this.withFreshToken(route, parameters);
    } catch (error) {
      const word = recognise(error);
      if (word !== undefined) return word;
      throw failureOf(error, route);
    }
  }

  private async withFreshToken(route: string, parameters: SentParameters): Promise<GitHubAnswer> {
    try {
      return await this.unlessUnchanged(route, parameters);
    } catch (error) {
      if (!this.ports.renewable || refusalOf(error)?.status !== 401) throw error;
      // Withdrawn before its time; the SDK makes a new one only when the old one's time is over.
      await this.ports.octokit.auth({ type: 'installation', refresh: true });
      return this.unlessUnchanged(route, parameters);
    }
  }

  /**
   * Asks only whether something has changed that is known, a file or list of a repository: a 304 costs nothing of the
   * rate limit. GitHub decides about access again each time, and what one credential was answered is shown to no other.
   * Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
   */
  private async unlessUnchanged(route: string, parameters: SentParameters): Promise<GitHubAnswer> {
    const { known, credential } = this.ports;
    const isKeepable = route.startsWith('GET /repos/') && parameters.request === undefined;
    if (!isKeepable || credential === undefined) return this.inTime(route, parameters);
    const name = JSON.stringify([credential, route, parameters]);
    const before = known.find(name);
    const headers = { ...parameters.headers, ...(before && { 'if-none-match': before.etag }) };
    try {
      const answer = await this.inTime(route, { ...parameters, headers });
      const { etag } = answer.headers;
      const isWhole = answer.status === 200 && typeof etag === 'string';
      if (isWhole) known.keep(name, etag, JSON.stringify(answer.data));
      return answer;
    } catch (error) {
      if (before === undefined || refusalOf(error)?.status !== 304) throw error;
      known.keep(name, before.etag, before.json);
      return { route, status: 200, headers: {}, data: JSON.parse(before.json) };
    }
  }

  /** A request that is still waiting for its turn when its time is over is never sent. */
  private async inTime(
    route: string,
    { headers, request, ...parameters }: SentParameters,
  ): Promise<GitHubAnswer> {
    const end = new AbortController();
    const sent = this.ports.octokit.request(route, {
      ...parameters,
      headers: { 'x-github-api-version': API_VERSION, ...headers },
      request: { ...request, signal: end.signal },
    });
    const answer = await within(this.ports.timeoutMilliseconds, sent, () => {
      const reason = new DOMException('GitHub took too long.', 'AbortError');
      end.abort(reason);
      return reason;
    });
    return { route, status: answer.status, headers: answer.headers, data: answer.data };
  }
}

/** A text is read to its end only up to here. */
const MAX_TEXT_BYTES = 50_000_000;

const DOWNLOAD_TIMEOUT_MILLISECONDS = 20_000;

/** The address is a secret for a minute: it gets into no error. */
async function endOfText(address: string, route: string, most: number): Promise<string | undefined> {
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MILLISECONDS);
  let status = 0;
  try {
    const response = await fetch(address, { redirect: 'error', signal });
    if (response.status === 404 || response.status === 410) return undefined;
    if (response.ok && response.body !== null) return await endOf(response.body, most);
    status = response.status;
  } catch {
    if (signal.aborted) throw refusal('TIMEOUT', 'timeout', { cause: route });
  }
  const cause = `the log's host: ${status === 0 ? 'no connection' : `HTTP ${status}`}`;
  throw refusal('GITHUB_ERROR', 'noConnection', { cause });
}

async function endOf(body: ReadableStream<Uint8Array>, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let kept = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) break;
    kept = (kept + decoder.decode(chunk, { stream: true })).slice(-most);
  }
  return kept;
}

/** Of all that an instance keeps, and of one answer, in bytes at most. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** What a character may take in memory. */
const BYTES_PER_CHARACTER = 2;

interface KnownAnswer {
  readonly etag: string;
  /** As JSON, so that nobody changes it and its size is known. */
  readonly json: string;
}

/** What GitHub has answered, with its ETags, as far as there is room. */
export class KnownAnswers {
  private readonly kept = new Map<string, KnownAnswer>();
  private bytes = 0;

  find(name: string): KnownAnswer | undefined {
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
    this.bytes -= (this.kept.get(name)?.json.length ?? 0) * BYTES_PER_CHARACTER;
    this.kept.delete(name);
  }
}
