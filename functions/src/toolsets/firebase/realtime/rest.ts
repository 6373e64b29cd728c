/**
 * The Realtime Database's REST API with a caller's ID token: the rules see exactly what they would see of a
 * client that signed in as this caller. Source: https://firebase.google.com/docs/reference/rest/database
 */

import type { App } from 'firebase-admin/app';
import { z } from 'zod';
import type { Caller } from '../../../access/rules/principal.ts';
import type { CallerTokens } from '../../../access/store/signIn.ts';
import { connectionError, type MusterError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { sizeLimitExceeded, unansweredWrite } from '../rules/errors.ts';
import { exchange, type HttpAnswer, type RestRequest, refusalOf, UnansweredError } from './transport.ts';

/** What one answer may hold. Far more than a model reads, far less than an instance has memory. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

/** Enough to see that it is not `null`. */
const GLANCE_BYTES = 1024;

/** The ETag of what does not exist. */
export const NOTHING_ETAG = 'null_etag';

export interface RestAnswer {
  readonly data: JsonValue;
  readonly etag?: string;
}

/** What became of a write. */
interface WriteAnswer {
  readonly etag?: string;
  /** Why it was not carried out, when it was sent for the last time. */
  readonly refusal?: MusterError;
  /** Whether it was sent before, and may have been carried out then. */
  readonly isRepeated: boolean;
}

const json: z.ZodType<JsonValue> = z.custom<JsonValue>((value) => value !== undefined);

interface RestDependencies {
  readonly app: () => App;
  readonly tokens: CallerTokens;
  readonly timeoutMilliseconds: number;
}

export class CallerRest {
  private readonly dependencies: RestDependencies;

  constructor(dependencies: RestDependencies) {
    this.dependencies = dependencies;
  }

  /** @throws MusterError as toolsets/firebase/rules/errors.ts makes them, and those of CallerTokens */
  async read(caller: Caller, request: Omit<RestRequest, 'method'>): Promise<RestAnswer> {
    const answer = await this.readWithin(caller, request, MAX_ANSWER_BYTES);
    if (answer !== undefined) return answer;
    throw sizeLimitExceeded(
      'path',
      `There is more than one answer may hold, ${MAX_ANSWER_BYTES} bytes.`,
      'Read with shallow for the keys alone, with a smaller limit, or a deeper path.',
    );
  }

  /** The same, but undefined where there is more than so many bytes. @throws MusterError as read does */
  async readWithin(
    caller: Caller,
    request: Omit<RestRequest, 'method'>,
    mostBytes: number,
  ): Promise<RestAnswer | undefined> {
    const { text, etag } = await this.get(caller, request, mostBytes);
    return text === undefined ? undefined : { data: parsed(text), ...(etag !== undefined && { etag }) };
  }

  /** Whether there is anything, however large it is. @throws MusterError as read does */
  async exists(caller: Caller, path: string): Promise<boolean> {
    const request = { path, parameters: { shallow: 'true' } };
    const { text } = await this.get(caller, request, GLANCE_BYTES);
    return text === undefined || parsed(text) !== null;
  }

  /**
   * Writes, again and again until there is an answer: a write that is carried out twice must do no harm.
   * @throws MusterError where nobody knows whether it was carried out, or nothing was sent
   */
  async write(caller: Caller, request: RestRequest): Promise<WriteAnswer> {
    const { answer, isRepeated } = await this.ask(caller, request, MAX_ANSWER_BYTES);
    if (!isSuccess(answer)) return { refusal: refusalOf(answer, request), isRepeated };
    return { isRepeated, ...(answer.etag !== undefined && { etag: answer.etag }) };
  }

  private async get(
    caller: Caller,
    request: Omit<RestRequest, 'method'>,
    mostBytes: number,
  ): Promise<HttpAnswer> {
    const get = { ...request, method: 'GET' } as const;
    const { answer } = await this.ask(caller, get, mostBytes);
    if (!isSuccess(answer)) throw refusalOf(answer, get);
    return answer;
  }

  private async ask(caller: Caller, request: RestRequest, mostBytes: number): Promise<Repeated> {
    const { method, path, parameters, data, ifMatch, wantsEtag } = request;
    const { app, tokens, timeoutMilliseconds } = this.dependencies;
    const { idToken } = await tokens.of(caller);
    const headers = {
      ...(data !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(wantsEtag === true && { 'x-firebase-etag': 'true' }),
    };
    const url = resourcesOf(app())(path, { ...parameters, auth: idToken });
    const sent = { method, headers, ...(data !== undefined && { body: JSON.stringify(data) }) };
    try {
      return await untilAnswered(timeoutMilliseconds, (milliseconds) =>
        exchange(url, sent, { timeoutMilliseconds: milliseconds, mostBytes }),
      );
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      const { isSent, reason } = error;
      throw isSent && method !== 'GET' ? unansweredWrite(reason) : connectionError(reason);
    }
  }
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

function parsed(text: string): JsonValue {
  try {
    return json.parse(JSON.parse(text));
  } catch {
    throw connectionError('an answer that is not JSON');
  }
}

// Where the Realtime Database answers REST requests: the emulator, or the database's own URL.

/**
 * @param path segments of letters, digits, `_` and `-`, or of push keys, which need no escaping
 * @param parameters of the query string
 */
type ResourceUrl = (path: string, parameters: Readonly<Record<string, string>>) => string;

/** Resources of the database that the app's own client uses. */
export function resourcesOf(app: App): ResourceUrl {
  const { databaseURL } = app.options;
  if (databaseURL === undefined) throw new Error('This deployment names no Realtime Database.');
  const { origin, hostname, searchParams } = new URL(databaseURL);
  const emulator = process.env['FIREBASE_DATABASE_EMULATOR_HOST'];
  const named = searchParams.get('ns');
  const namespace = emulator ? (named ?? hostname.split('.')[0]) : named;
  const base = emulator ? `http://${emulator}` : origin;
  return (path, parameters) => {
    const query = new URLSearchParams({ ...parameters, ...(namespace && { ns: namespace }) });
    return `${base}/${path}.json?${query}`;
  };
}

// Sends a request again whose answer was lost, within one patience.

const MAX_SENDS = 3;

const PAUSE_MILLISECONDS = 100;

interface Repeated {
  readonly answer: HttpAnswer;
  /** Whether it was sent before, and may have been carried out then. */
  readonly isRepeated: boolean;
}

/**
 * @param send given how long it may take, in whole milliseconds
 * @throws UnansweredError of the first send that may have arrived
 */
async function untilAnswered(
  timeoutMilliseconds: number,
  send: (milliseconds: number) => Promise<HttpAnswer>,
): Promise<Repeated> {
  const end = performance.now() + timeoutMilliseconds;
  let lost: UnansweredError | undefined;
  for (let number = 1; ; number++) {
    const outcome = await attempt(() => send(Math.ceil(end - performance.now())));
    if (!(outcome instanceof UnansweredError)) return { answer: outcome, isRepeated: lost !== undefined };
    if (!outcome.isSent && lost === undefined) throw outcome;
    lost ??= outcome;
    const wait = PAUSE_MILLISECONDS * number;
    if (number === MAX_SENDS || performance.now() + wait >= end) throw lost;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** Of what broke in the database or on the way to it, nobody knows how far it had come. */
async function attempt(send: () => Promise<HttpAnswer>): Promise<HttpAnswer | UnansweredError> {
  try {
    const answer = await send();
    return answer.status >= 500 ? new UnansweredError(`HTTP ${answer.status}`, true) : answer;
  } catch (error) {
    if (error instanceof UnansweredError) return error;
    throw error;
  }
}
