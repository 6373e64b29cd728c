/** What an agent has answered, when it is known to its end. */
import type { Availability, ModelAnswer, Price } from '../toolsets/orchestration/index.ts';
import { concluded, failure, type Progress, stopped } from './modelFailure.ts';

/** Models' names are shown, and come from outside. */
const NAME_LENGTH = 100;

interface Answered {
  readonly text: string;
  readonly model: string;
  /** False: cut at a limit. */
  readonly complete: boolean;
}

/** @throws ModelFailure where it says nothing, though nothing cut it */
export function modelAnswer({ text, model, complete }: Answered, progress: Progress): ModelAnswer {
  if (text === '' && complete) throw concluded('malformed', progress, 'an answer without text');
  return {
    // JSON can carry half of a surrogate pair. It is no text: no database or client need take it.
    text: text.replace(/\p{Surrogate}/gu, '\ufffd'),
    model: model.slice(0, NAME_LENGTH),
    usage: progress.usage ?? { inputTokens: 0, outputTokens: 0 },
    complete,
  };
}

// One request to a vendor through its SDK, from its sending to its end.

const MEBIBYTE = 1024 * 1024;

/**
 * Several times what the longest answer takes, with all the events around its words. What goes on beyond that is
 * cut off while it is read.
 */
const MAX_BODY_MEBIBYTES = 32;

interface Exchange<Item> {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Sends the request; resolves with the vendor's first word. The signal closes it. */
  readonly open: (signal: AbortSignal) => Promise<AsyncIterable<Item>>;
  /** What the SDK threw, in our words. */
  readonly failureOf: (error: unknown) => Error;
}

/**
 * The parts of the answer as they come. However it ends, the connection is not left open for nobody.
 * @throws ModelFailure
 */
export async function* received<Item>({ signal, progress, open, failureOf }: Exchange<Item>) {
  if (signal.aborted) throw stopped(signal, progress, false);
  const reading = new AbortController();
  try {
    const items = await open(AbortSignal.any([signal, reading.signal]));
    progress.answered = true;
    for await (const item of items) yield item;
  } catch (error) {
    if (signal.aborted) throw stopped(signal, progress, true);
    if (!isOfTooMuch(error)) throw failureOf(error);
    throw failure('malformed', progress, { detail: `more than ${MAX_BODY_MEBIBYTES} MiB` });
  } finally {
    reading.abort();
  }
  // The SDKs end an iteration that was aborted as if it were complete.
  if (signal.aborted) throw stopped(signal, progress, true);
}

/** The vendor says more than anybody could mean to. */
class TooMuchError extends Error {
  constructor() {
    super('The vendor says too much.');
    this.name = 'TooMuchError';
  }
}

/** The SDKs may wrap what reading a body throws. */
function isOfTooMuch(error: unknown): boolean {
  if (error instanceof TooMuchError) return true;
  return error instanceof Error && error.cause !== undefined && isOfTooMuch(error.cause);
}

/**
 * Fetches, and reads at most so much. A key in a header of the vendor's own is carried by `fetch` to wherever it is
 * redirected: here, nowhere.
 */
export async function fetchOnce(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error' });
  return response.body === null ? response : new Response(bounded(response.body), response);
}

function bounded(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes > MAX_BODY_MEBIBYTES * MEBIBYTE) controller.error(new TooMuchError());
        else controller.enqueue(chunk);
      },
    }),
  );
}

/**
 * When a vendor wants to be asked again, in milliseconds from now.
 * Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after; `retry-after-ms` is a precise variant of some.
 */
export function retryAfterMs(headers: Headers | undefined, now = Date.now()): number | undefined {
  const precise = milliseconds(headers?.get('retry-after-ms'), 1);
  if (precise !== undefined) return precise;
  const text = headers?.get('retry-after');
  return milliseconds(text, 1000) ?? until(text, now);
}

function milliseconds(text: string | null | undefined, unit: number): number | undefined {
  return text != null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text) * unit) : undefined;
}

/** All three forms of a date that HTTP knows begin with the day's name. */
function until(text: string | null | undefined, now: number): number | undefined {
  const instant = text != null && /^[A-Z][a-z]{2}/.test(text.trim()) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(instant) ? undefined : Math.max(0, instant - now);
}

// What a deployment says about a hosted model, and whether it can be asked with it.

export interface ModelSettings {
  readonly apiKey?: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly price: Price;
}

/** The parameters' names, for whoever has to set them. */
interface ParameterNames {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly inputPrice: string;
  readonly outputPrice: string;
}

export function availabilityOf(agent: string, settings: ModelSettings, names: ParameterNames): Availability {
  const reason = obstacle(agent, settings, names);
  return reason === undefined ? { available: true } : { available: false, reason };
}

function obstacle(
  agent: string,
  { apiKey, baseUrl, model, price }: ModelSettings,
  names: ParameterNames,
): string | undefined {
  if (apiKey === undefined) {
    return (
      `${agent} has no key here: whoever runs this deployment sets ${names.apiKey}, with ` +
      `\`npx firebase functions:secrets:set ${names.apiKey}\` and a deployment, or on a machine of their own in ` +
      'functions/.env.local. For a local trial without a key: `npm start -- --demo-models`. See docs/guides/models.md.'
    );
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return `${names.apiKey} has characters that no key has. Set it again.`;
  if (!isSafe(baseUrl)) return `${names.baseUrl} is not an https:// address.`;
  if (model === '') return `${names.model} is empty: name a model.`;
  if (!isPrice(price.inputPerMillion)) return notAPrice(names.inputPrice);
  if (!isPrice(price.outputPerMillion)) return notAPrice(names.outputPrice);
  return undefined;
}

/** Keys go over TLS, or stay on this machine. */
function isSafe(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const local = url?.protocol === 'http:' && /^(127\.0\.0\.1|localhost)$/.test(url.hostname);
  return url?.protocol === 'https:' || local;
}

function isPrice(dollars: number): boolean {
  return Number.isFinite(dollars) && dollars >= 0;
}

function notAPrice(name: string): string {
  return `${name} is not a number of US dollars for a million tokens, such as 2.50.`;
}
