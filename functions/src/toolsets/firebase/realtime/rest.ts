/**
 * The Realtime Database's REST API with a caller's ID token: the rules see exactly what they would see of a
 * client that signed in as this caller. Source: https://firebase.google.com/docs/reference/rest/database
 */

import type { App } from 'firebase-admin/app';
import type { CallerTokens } from '../../../access/store/idTokens.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { connectionError, type MusterError } from '../../../kernel/errors.ts';
import { type JsonValue, jsonValue, parsedJson } from '../../../kernel/json.ts';
import type { Clock, Hashing, Randomness } from '../../../kernel/ports.ts';
import { unansweredWrite } from '../rules/dataErrors.ts';
import {
  exchange,
  type HttpAnswer,
  type RestRequest,
  refusalOf,
  tooLargeToRead,
  UnansweredError,
} from './transport.ts';

/** What one answer may hold. Far more than a model reads, far less than an instance has memory. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

/** Enough to see that it is not `null`. */
const GLANCE_BYTES = 1024;

const MAX_SENDS = 3;

const PAUSE_MILLISECONDS = 100;

/** The ETag of what does not exist. */
export const NOTHING_ETAG = 'null_etag';

export interface RealtimePorts {
  /** The server's own; it says where the database is. */
  readonly app: () => App;
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  readonly randomness: Randomness;
  /** How long an answer, or the first state of a watch, may take. */
  readonly timeoutMilliseconds: number;
}

/** The ETag is there where it was asked for. */
export interface RestAnswer {
  readonly data: JsonValue;
  readonly etag: string | undefined;
}

type ReadRequest = Omit<RestRequest, 'method'>;

interface Answer extends HttpAnswer {
  /** Why it was not carried out, when it was sent for the last time. */
  readonly refusal: MusterError | undefined;
  /** Whether it was sent before, and may have been carried out then. */
  readonly isRepeated: boolean;
}

export class CallerRest {
  readonly ports: RealtimePorts;
  readonly caller: Caller;

  constructor(ports: RealtimePorts, caller: Caller) {
    this.ports = ports;
    this.caller = caller;
  }

  /** @throws MusterError as toolsets/firebase/rules/errors.ts makes them, and those of CallerTokens */
  async read(request: ReadRequest, mostBytes = MAX_ANSWER_BYTES): Promise<RestAnswer> {
    const answer = await this.readWithin(mostBytes, request);
    if (answer !== undefined) return answer;
    throw tooLargeToRead(`There is more than one answer may hold, ${mostBytes} bytes.`);
  }

  /** The same, but undefined where there is more than so many bytes. @throws MusterError as read does */
  async readWithin(mostBytes: number, request: ReadRequest): Promise<RestAnswer | undefined> {
    const { text, etag, refusal } = await this.send({ ...request, method: 'GET' }, mostBytes);
    if (refusal !== undefined) throw refusal;
    if (text === undefined) return undefined;
    const { success, data } = jsonValue.safeParse(parsedJson(text));
    if (!success) throw connectionError('an answer that is not JSON');
    return { data, etag };
  }

  /** Whether there is anything, however large it is. @throws MusterError as read does */
  async exists(path: string): Promise<boolean> {
    return (await this.readWithin(GLANCE_BYTES, { path, parameters: { shallow: 'true' } }))?.data !== null;
  }

  /**
   * Sends a request, and again where its answer was lost: a write that is carried out twice must do no harm.
   * @throws MusterError where nobody knows whether it was carried out, or nothing was sent
   */
  async send(request: RestRequest, mostBytes = MAX_ANSWER_BYTES): Promise<Answer> {
    const { method, path, parameters, data, ifMatch, wantsEtag } = request;
    const { idToken } = await this.ports.tokens.of(this.caller);
    const url = resourceUrl(this.ports.app(), path, { ...parameters, auth: idToken });
    const headers = {
      ...(data !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(wantsEtag && { 'x-firebase-etag': 'true' }),
    };
    const sent = { method, headers, ...(data !== undefined && { body: JSON.stringify(data) }) };
    const unanswered = method === 'GET' ? connectionError : unansweredWrite;
    const exchanged = (timeoutMilliseconds: number) =>
      exchange(url, sent, { timeoutMilliseconds, mostBytes });
    const { answer, isRepeated } = await untilAnswered(this.ports.timeoutMilliseconds, exchanged, unanswered);
    const isSuccess = answer.status >= 200 && answer.status < 300;
    return { ...answer, isRepeated, refusal: isSuccess ? undefined : refusalOf(answer, request) };
  }
}

/** Sends a request again whose answer was lost. @param send given how long it may take, in whole milliseconds */
async function untilAnswered(
  timeoutMilliseconds: number,
  send: (milliseconds: number) => Promise<HttpAnswer>,
  unanswered: (reason: string) => MusterError,
) {
  const end = performance.now() + timeoutMilliseconds;
  let lost: UnansweredError | undefined;
  for (let number = 1; ; number++) {
    try {
      const answer = await send(Math.ceil(end - performance.now()));
      if (answer.status < 500) return { answer, isRepeated: lost !== undefined };
      // Of what broke in the database or on the way to it, nobody knows how far it had come.
      lost ??= new UnansweredError(`HTTP ${answer.status}`, true);
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      if (!error.isSent && lost === undefined) throw connectionError(error.reason);
      lost ??= error;
    }
    const wait = PAUSE_MILLISECONDS * number;
    if (number === MAX_SENDS || performance.now() + wait >= end) throw unanswered(lost.reason);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/**
 * A resource of the database that the app's own client uses: of the emulator, or at the database's own URL.
 * @param path segments of letters, digits, `_` and `-`, or of push keys, which need no escaping
 * @param parameters of the query string
 */
export function resourceUrl(app: App, path: string, parameters: Readonly<Record<string, string>>): string {
  const { databaseURL } = app.options;
  if (databaseURL === undefined) throw new Error('This deployment names no Realtime Database.');
  const { origin, hostname, searchParams } = new URL(databaseURL);
  const emulator = process.env['FIREBASE_DATABASE_EMULATOR_HOST'];
  const named = searchParams.get('ns');
  const namespace = emulator ? (named ?? hostname.split('.')[0]) : named;
  const query = new URLSearchParams({ ...parameters, ...(namespace && { ns: namespace }) });
  return `${emulator ? `http://${emulator}` : origin}/${path}.json?${query}`;
}
