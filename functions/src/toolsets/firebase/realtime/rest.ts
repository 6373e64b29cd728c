/**
 * Calls the Realtime Database's REST API with the caller's ID token. The security rules apply as for a client that
 * has signed in as the caller. Source: https://firebase.google.com/docs/reference/rest/database
 */
import type { App } from 'firebase-admin/app';
import type { CallerTokens } from '../../../access/store/idTokens.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { connectionError, type MusterError } from '../../../kernel/errors.ts';
import { type JsonValue, jsonValue, parsedJson } from '../../../kernel/json.ts';
import type { Clock, Hashing, Randomness } from '../../../kernel/ports.ts';
import { unknownWriteOutcome } from '../rules/dataErrors.ts';
import {
  exchange,
  type HttpResponse,
  NoResponseError,
  type RestRequest,
  restErrorOf,
  tooLargeToRead,
} from './transport.ts';

/** Maximum size of a response in bytes: more than a model can read, but a small part of an instance's memory. */
const MAX_REST_RESPONSE_BYTES = 8 * 1_048_576;

/** Number of bytes that are read to find out whether a response is `null`. */
const SHALLOW_READ_BYTES = 1024;
const MAX_SENDS = 3;
const PAUSE_MS = 100;
export const NOTHING_ETAG = 'null_etag';

export interface RealtimePorts {
  /** App of the server, which contains the database's URL. */
  readonly app: () => App;
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  readonly randomness: Randomness;
  /** Timeout of a response, or of a watch until its first data arrives. */
  readonly timeoutMilliseconds: number;
}

/** A response of the database. It contains an ETag only if the request asked for one. */
export interface RestResponse {
  readonly data: JsonValue;
  readonly etag: string | undefined;
}

type ReadRequest = Omit<RestRequest, 'method'>;

interface RestOutcome extends HttpResponse {
  /** Error of the last attempt; undefined if the request was carried out. */
  readonly refusal: MusterError | undefined;
  /** Whether an earlier attempt was sent and its response was lost. That attempt may have been carried out. */
  readonly isRepeated: boolean;
}

export class CallerRest {
  readonly ports: RealtimePorts;
  readonly caller: Caller;

  constructor(ports: RealtimePorts, caller: Caller) {
    this.ports = ports;
    this.caller = caller;
  }

  /** @throws MusterError as toolsets/firebase/rules/dataErrors.ts or CallerTokens create them */
  async read(request: ReadRequest, maxBytes = MAX_REST_RESPONSE_BYTES): Promise<RestResponse> {
    const answer = await this.readWithin(maxBytes, request);
    if (answer !== undefined) return answer;
    throw tooLargeToRead(`The response would exceed ${maxBytes} bytes.`);
  }

  /** Like `read`, but returns undefined if the response has more than `maxBytes`. @throws MusterError like `read` */
  async readWithin(maxBytes: number, request: ReadRequest): Promise<RestResponse | undefined> {
    const { text, etag, refusal } = await this.send({ ...request, method: 'GET' }, maxBytes);
    if (refusal !== undefined) throw refusal;
    if (text === undefined) return undefined;
    const { success, data } = jsonValue.safeParse(parsedJson(text));
    if (!success) throw connectionError('The database returned a response that is not JSON.');
    return { data, etag };
  }

  /** Returns whether the path contains data, without reading all of it. @throws MusterError like `read` */
  async exists(path: string): Promise<boolean> {
    return (await this.readWithin(SHALLOW_READ_BYTES, { path, parameters: { shallow: 'true' } }))?.data !== null;
  }

  /**
   * Sends a write. If the response is lost, sends it again: applying it twice must have the same effect as once.
   * @throws MusterError if nothing was sent, or if it is unknown whether the write was carried out
   */
  async send(request: RestRequest, maxBytes = MAX_REST_RESPONSE_BYTES): Promise<RestOutcome> {
    const { method, path, parameters, data, ifMatch, wantsEtag } = request;
    const { idToken } = await this.ports.tokens.of(this.caller);
    const url = resourceUrl(this.ports.app(), path, { ...parameters, auth: idToken });
    const headers = {
      ...(data !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(wantsEtag && { 'x-firebase-etag': 'true' }),
    };
    const sent = { method, headers, ...(data !== undefined && { body: JSON.stringify(data) }) };
    const unanswered = method === 'GET' ? connectionError : unknownWriteOutcome;
    const exchanged = (timeoutMilliseconds: number) => exchange(url, sent, { timeoutMilliseconds, maxBytes });
    const { answer, isRepeated } = await retryUntilAnswered(this.ports.timeoutMilliseconds, exchanged, unanswered);
    const isSuccess = answer.status >= 200 && answer.status < 300;
    return { ...answer, isRepeated, refusal: isSuccess ? undefined : restErrorOf(answer, request) };
  }
}

/** Sends a request, repeatedly if responses are lost. @param send its argument is the timeout in milliseconds */
async function retryUntilAnswered(
  timeoutMilliseconds: number,
  send: (milliseconds: number) => Promise<HttpResponse>,
  unanswered: (reason: string) => MusterError,
) {
  const end = performance.now() + timeoutMilliseconds;
  let lost: NoResponseError | undefined;
  for (let number = 1; ; number++) {
    try {
      const answer = await send(Math.ceil(end - performance.now()));
      if (answer.status < 500) return { answer, isRepeated: lost !== undefined };
      // After an HTTP 5xx error, it is unknown whether the database has carried out the request.
      lost ??= new NoResponseError(`HTTP ${answer.status}`, true);
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      if (!error.isSent && lost === undefined) throw connectionError(error.reason);
      lost ??= error;
    }
    const wait = PAUSE_MS * number;
    if (number === MAX_SENDS || performance.now() + wait >= end) throw unanswered(lost.reason);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/**
 * Returns the URL of a path in the database, which may be the emulator's.
 * @param path its segments are not escaped, so they must consist of letters, digits, `_` and `-`
 */
export function resourceUrl(app: App, path: string, parameters: Readonly<Record<string, string>>): string {
  const { databaseURL } = app.options;
  if (databaseURL === undefined) throw new Error('This deployment has no Realtime Database URL.');
  const { origin, hostname, searchParams } = new URL(databaseURL);
  const emulator = process.env['FIREBASE_DATABASE_EMULATOR_HOST'];
  const named = searchParams.get('ns');
  const namespace = emulator ? (named ?? hostname.split('.')[0]) : named;
  const query = new URLSearchParams({ ...parameters, ...(namespace && { ns: namespace }) });
  return `${emulator ? `http://${emulator}` : origin}/${path}.json?${query}`;
}
