/**
 * The Realtime Database's REST API with the caller's ID token: the rules see the same as for a client that signed in
 * as this caller. Source: https://firebase.google.com/docs/reference/rest/database
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

/** Maximum response size: far more than a model reads, far less than an instance's memory. */
const MAX_REST_RESPONSE_BYTES = 8 * 1_048_576;

/** Enough to see whether a response is `null`. */
const SHALLOW_READ_BYTES = 1024;

const MAX_SENDS = 3;

const PAUSE_MS = 100;

/** ETag of a path without data. */
export const NOTHING_ETAG = 'null_etag';

export interface RealtimePorts {
  /** The server's own app, which contains the database's URL. */
  readonly app: () => App;
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  readonly randomness: Randomness;
  /** Timeout of a response, or of the first state of a watch. */
  readonly timeoutMilliseconds: number;
}

/** A response; it has an ETag if one was requested. */
export interface RestResponse {
  readonly data: JsonValue;
  readonly etag: string | undefined;
}

type ReadRequest = Omit<RestRequest, 'method'>;

interface RestOutcome extends HttpResponse {
  /** Why the last sending was rejected. */
  readonly refusal: MusterError | undefined;
  /** Whether the request was sent before and may have been carried out then. */
  readonly isRepeated: boolean;
}

export class CallerRest {
  readonly ports: RealtimePorts;
  readonly caller: Caller;

  constructor(ports: RealtimePorts, caller: Caller) {
    this.ports = ports;
    this.caller = caller;
  }

  /** @throws MusterError as created in toolsets/firebase/rules/dataErrors.ts, and those of CallerTokens */
  async read(request: ReadRequest, maxBytes = MAX_REST_RESPONSE_BYTES): Promise<RestResponse> {
    const answer = await this.readWithin(maxBytes, request);
    if (answer !== undefined) return answer;
    throw tooLargeToRead(`The response would exceed ${maxBytes} bytes.`);
  }

  /** Like `read`, but returns undefined if the response exceeds the limit. @throws MusterError like `read` */
  async readWithin(maxBytes: number, request: ReadRequest): Promise<RestResponse | undefined> {
    const { text, etag, refusal } = await this.send({ ...request, method: 'GET' }, maxBytes);
    if (refusal !== undefined) throw refusal;
    if (text === undefined) return undefined;
    const { success, data } = jsonValue.safeParse(parsedJson(text));
    if (!success) throw connectionError('a response that is not JSON');
    return { data, etag };
  }

  /** Returns whether the path has data of any size. @throws MusterError like `read` */
  async exists(path: string): Promise<boolean> {
    return (await this.readWithin(SHALLOW_READ_BYTES, { path, parameters: { shallow: 'true' } }))?.data !== null;
  }

  /**
   * Sends a request, and repeats it if the response is lost: carrying out a write twice must do no harm.
   * @throws MusterError if it is unknown whether the request was carried out, or nothing was sent
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

/** Repeats a request whose response is lost. @param send called with its timeout, in whole milliseconds */
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
      // After an error in the database or on the way to it, the progress of the request is unknown.
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
 * Returns the URL of a resource, in the emulator or at the database that the app's own client uses.
 * @param path segments of letters, digits, `_` and `-`, or of push keys, which need no escaping
 * @param parameters of the query string
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
