/** Sends requests to GitHub, with a timeout and renewal of tokens. Converts errors to Muster's errors. */
import type { Octokit } from '@octokit/core';
import { withTimeoutError } from '../../kernel/concurrency.ts';
import { Service } from '../../kernel/ports.ts';
import {
  type GitHubClient,
  type GitHubResponse,
  type RecognizeRefusal,
  type RequestParameters,
  refusal,
} from '../../toolsets/github/index.ts';
import { failureOf, hasNoResponse, refusalOf } from './failure.ts';

const API_VERSION = '2022-11-28';

interface SentParameters extends RequestParameters {
  readonly request?: { readonly redirect?: 'manual'; readonly retries?: number };
}

interface ClientSettings {
  readonly octokit: Octokit;
  /** Whether the credential is an installation token, which can be renewed. */
  readonly renewable?: boolean;
  /** Key of the credential in the response cache; if absent, responses are not cached. */
  readonly credential?: string;
  readonly cache: ResponseCache;
  readonly timeoutMilliseconds: number;
}

export class OctokitClient extends Service<ClientSettings> implements GitHubClient {
  ask(route: string, parameters: RequestParameters): Promise<GitHubResponse> {
    return this.send<never>(route, parameters, () => undefined);
  }

  async find(
    route: string,
    parameters: SentParameters,
    missing: readonly number[] = [404],
  ): Promise<GitHubResponse | undefined> {
    const answer = await this.send(route, parameters, (error) => {
      const refused = refusalOf(error);
      return refused?.answered && missing.includes(refused.status) ? 'missing' : undefined;
    });
    return answer === 'missing' ? undefined : answer;
  }

  /** Downloads the end of a text from a short-lived URL that GitHub returns. The token is not sent to that URL. */
  async download(route: string, parameters: RequestParameters, max: number): Promise<string | undefined> {
    const answer = await this.find(route, { ...parameters, request: { redirect: 'manual' } }, [404, 410]);
    if (answer === undefined) return undefined;
    const { location } = answer.headers;
    if (typeof location === 'string' && URL.canParse(location)) return endOfText(location, route, max);
    const cause = `${route}: ${answer.status} without an address`;
    throw refusal('GITHUB_ERROR', 'unavailable', { cause });
  }

  once<Word extends string>(
    route: string,
    parameters: RequestParameters,
    recognize: RecognizeRefusal<Word>,
  ): Promise<GitHubResponse | Word | 'unanswered'> {
    return this.send(route, { ...parameters, request: { retries: 0 } }, (error) => {
      const refused = refusalOf(error);
      const word = refused?.answered ? recognize(refused) : undefined;
      return word ?? (hasNoResponse(error) ? 'unanswered' : undefined);
    });
  }

  /** Sends a request. @throws MusterError for all errors that `recognize` does not accept */
  private async send<Word extends string>(
    route: string,
    parameters: SentParameters,
    recognize: (error: unknown) => Word | undefined,
  ): Promise<GitHubResponse | Word> {
    try {
      return await this.withFreshToken(route, parameters);
    } catch (error) {
      const word = recognize(error);
      if (word !== undefined) return word;
      throw failureOf(error, route);
    }
  }

  private async withFreshToken(route: string, parameters: SentParameters): Promise<GitHubResponse> {
    try {
      return await this.sendConditional(route, parameters);
    } catch (error) {
      if (!this.ports.renewable || refusalOf(error)?.status !== 401) throw error;
      // The token was revoked before its expiry. The SDK would create a new token only after the expiry.
      await this.ports.octokit.auth({ type: 'installation', refresh: true });
      return this.sendConditional(route, parameters);
    }
  }

  /**
   * Sends a conditional request if the cache has the response, because a response 304 does not count towards the rate
   * limit. GitHub checks the access for each request, and credentials do not share the cache. Source:
   * https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
   */
  private async sendConditional(route: string, parameters: SentParameters): Promise<GitHubResponse> {
    const { cache, credential } = this.ports;
    const isKeepable = route.startsWith('GET /repos/') && parameters.request === undefined;
    if (!isKeepable || credential === undefined) return this.sendWithTimeout(route, parameters);
    const name = JSON.stringify([credential, route, parameters]);
    const before = cache.find(name);
    const headers = { ...parameters.headers, ...(before && { 'if-none-match': before.etag }) };
    try {
      const answer = await this.sendWithTimeout(route, { ...parameters, headers });
      const { etag } = answer.headers;
      const isWhole = answer.status === 200 && typeof etag === 'string';
      if (isWhole) cache.put(name, etag, JSON.stringify(answer.data));
      return answer;
    } catch (error) {
      if (before === undefined || refusalOf(error)?.status !== 304) throw error;
      cache.put(name, before.etag, before.json);
      return { route, status: 200, headers: {}, data: JSON.parse(before.json) };
    }
  }

  /** Sends a request with a timeout. If the timeout ends while the request is queued, the request is never sent. */
  private async sendWithTimeout(
    route: string,
    { headers, request, ...parameters }: SentParameters,
  ): Promise<GitHubResponse> {
    const end = new AbortController();
    const sent = this.ports.octokit.request(route, {
      ...parameters,
      headers: { 'x-github-api-version': API_VERSION, ...headers },
      request: { ...request, signal: end.signal },
    });
    const answer = await withTimeoutError(this.ports.timeoutMilliseconds, sent, () => {
      const reason = new DOMException('GitHub took too long.', 'AbortError');
      end.abort(reason);
      return reason;
    });
    return { route, status: answer.status, headers: answer.headers, data: answer.data };
  }
}

const MAX_TEXT_BYTES = 50_000_000;
const DOWNLOAD_TIMEOUT_MS = 20_000;

/** Returns the end of a text. Everyone who knows the URL can read the text, so errors must not contain the URL. */
async function endOfText(address: string, route: string, max: number): Promise<string | undefined> {
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  let status = 0;
  try {
    const response = await fetch(address, { redirect: 'error', signal });
    if (response.status === 404 || response.status === 410) return undefined;
    if (response.ok && response.body !== null) return await endOf(response.body, max);
    status = response.status;
  } catch {
    if (signal.aborted) throw refusal('TIMEOUT', 'timeout', { cause: route });
  }
  const cause = `the log's host: ${status === 0 ? 'no connection' : `HTTP ${status}`}`;
  throw refusal('GITHUB_ERROR', 'noConnection', { cause });
}

async function endOf(body: ReadableStream<Uint8Array>, max: number): Promise<string> {
  const decoder = new TextDecoder();
  let kept = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) break;
    kept = (kept + decoder.decode(chunk, { stream: true })).slice(-max);
  }
  return kept;
}

/** Maximum sizes of an instance's cache and of one cached response, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_CACHED_RESPONSE_BYTES = 4 * 1024 * 1024;
const BYTES_PER_CHARACTER = 2;

interface CachedResponse {
  readonly etag: string;
  /** Response as JSON, which cannot be changed and whose size is known. */
  readonly json: string;
}

export class ResponseCache {
  private readonly entries = new Map<string, CachedResponse>();
  private bytes = 0;

  find(name: string): CachedResponse | undefined {
    return this.entries.get(name);
  }

  /** Adds a response. If the cache is full, the responses that were used least recently are evicted. */
  put(name: string, etag: string, json: string): void {
    this.evict(name);
    const size = json.length * BYTES_PER_CHARACTER;
    if (size > MAX_CACHED_RESPONSE_BYTES) return;
    this.entries.set(name, { etag, json });
    this.bytes += size;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= MAX_BYTES) return;
      this.evict(oldest);
    }
  }

  private evict(name: string): void {
    this.bytes -= (this.entries.get(name)?.json.length ?? 0) * BYTES_PER_CHARACTER;
    this.entries.delete(name);
  }
}
