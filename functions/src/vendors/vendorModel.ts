/** What the models of all vendors have in common: their settings, the course of one request, and its answer. */

import type { z } from 'zod';
import { isSafeAddress } from '../kernel/platform.ts';
import {
  type AskOptions,
  type Availability,
  estimatedTokens,
  type HostedAgent,
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
  type Price,
  type Usage,
} from '../toolsets/orchestration/index.ts';
import { concluded, failure, type Progress, stopped, usageOf } from './modelFailure.ts';

export interface ModelSettings {
  readonly apiKey?: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly price: Price;
}

/** What a part of a streamed answer says, whichever vendor's it is. */
export interface AnswerPart {
  readonly text?: string | undefined;
  /** What the model thinks: it is billed as output, and no part of the answer. */
  readonly thought?: string | undefined;
  readonly model?: string | undefined;
  /** Running totals; later parts leave out what has not changed. */
  readonly usage?: Usage | undefined;
  /** Why the answer ends, in the vendor's word. */
  readonly finish?: string | undefined;
  /** Without a part that says so, the answer broke off. */
  readonly ended?: boolean;
}

/** Models' names are shown, and come from outside. */
const NAME_LENGTH = 100;

/** A model behind a vendor's API, which is asked through the vendor's SDK. */
export abstract class VendorModel<Client> implements HostedAgent {
  abstract readonly name: string;
  readonly model: string;
  readonly price: Price;
  /** How the names of the deployment's parameters begin: `ANTHROPIC_API_KEY`, `CLAUDE_MODEL`. */
  protected abstract readonly parameters: { readonly api: string; readonly model: string };
  /** Reads a part of an answer. */
  protected abstract readonly part: z.ZodType<AnswerPart>;
  private readonly settings: ModelSettings;
  private client: Promise<Client> | undefined;

  constructor(settings: ModelSettings) {
    this.settings = settings;
    this.model = settings.model;
    this.price = settings.price;
  }

  /** Loads the vendor's SDK. */
  protected abstract connect(settings: ModelSettings): Promise<Client>;

  /** Sends the request; resolves with the vendor's first word. The signal closes it. */
  protected abstract open(
    client: Client,
    request: ModelRequest,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<AsyncIterable<unknown>>;

  /** What the vendor means by an answer's end: whole, cut by output tokens, context full, refused, or no answer. */
  protected abstract meaningOf(finish: string): 'whole' | 'cut' | 'full' | 'refused' | 'none';

  /** What the SDK threw, in our words. */
  protected abstract failureOf(error: unknown, progress: Progress): ModelFailure;

  availability(): Availability {
    const reason = obstacle(this.name, this.settings, this.parameters);
    return reason === undefined ? { available: true } : { available: false, reason };
  }

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const progress: Progress = { agent: this.name, answered: false, understood: false, received: 0 };
    let [text, model, finish, ended] = ['', this.model, '', false];
    for await (const part of this.received(request, signal, progress)) {
      progress.received += estimatedTokens(`${part.text ?? ''}${part.thought ?? ''}`);
      if (part.usage) progress.usage = larger(part.usage, progress.usage);
      if (part.text) {
        text += part.text;
        onText?.(part.text);
      }
      model = part.model ?? model;
      finish = part.finish ?? finish;
      ended ||= part.ended ?? false;
    }
    if (!progress.understood) throw failure('malformed', progress);
    if (!ended) throw failure('truncated', progress);
    return {
      // JSON can carry half of a surrogate pair. It is no text: no database or client need take it.
      text: text.replace(/\p{Surrogate}/gu, '\ufffd'),
      model: model.slice(0, NAME_LENGTH),
      usage: usageOf(progress) ?? { input_tokens: 0, output_tokens: 0 },
      complete: this.isComplete(finish, text, progress),
    };
  }

  /** @throws ModelFailure if the answer has ended, and is none */
  private isComplete(finish: string, text: string, progress: Progress): boolean {
    const meaning = this.meaningOf(finish);
    if (meaning === 'refused') throw concluded('refused', progress);
    if (meaning === 'none') throw concluded('malformed', progress, 'an answer that is none');
    if (meaning === 'whole' && text === '') throw concluded('malformed', progress, 'an answer without text');
    // More room for output would not help: the prompt leaves none.
    if (meaning === 'full' && text.trim() === '') throw concluded('context_too_long', progress);
    return meaning === 'whole';
  }

  /** The parts of the answer as they come. However it ends, the connection is closed. @throws ModelFailure */
  private async *received(
    request: ModelRequest,
    signal: AbortSignal,
    progress: Progress,
  ): AsyncGenerator<AnswerPart> {
    this.client ??= this.connect(this.settings);
    const client = await this.client;
    if (signal.aborted) throw stopped(signal, progress, false);
    const reading = new AbortController();
    try {
      const closing = AbortSignal.any([signal, reading.signal]);
      const items = await this.open(client, request, closing, progress);
      progress.answered = true;
      for await (const item of items) {
        const { success, data } = this.part.safeParse(item);
        if (!success) throw failure('malformed', progress);
        progress.understood = true;
        yield data;
      }
    } catch (error) {
      if (error instanceof ModelFailure) throw error;
      if (signal.aborted) throw stopped(signal, progress, true);
      if (!isOfTooMuch(error)) throw this.failureOf(error, progress);
      throw failure('malformed', progress, { detail: `more than ${MAX_BODY_MEBIBYTES} MiB` });
    } finally {
      reading.abort();
    }
    // The SDKs end an iteration that was aborted as if it were complete.
    if (signal.aborted) throw stopped(signal, progress, true);
  }
}

function larger(usage: Usage, before: Usage = usage): Usage {
  return {
    input_tokens: Math.max(usage.input_tokens, before.input_tokens),
    output_tokens: Math.max(usage.output_tokens, before.output_tokens),
  };
}

const MEBIBYTE = 1024 * 1024;

/** Several times the longest answer, with the events around its words; what goes on beyond is cut off. */
const MAX_BODY_MEBIBYTES = 32;

/** The body of an answer is larger than any answer. */
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

/** Fetches, and reads at most so much. A key in a vendor's own header would follow a redirect: there is none here. */
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

/** Milliseconds until a vendor may be asked again. Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const text = headers?.get('retry-after');
  return milliseconds(headers?.get('retry-after-ms'), 1) ?? milliseconds(text, 1000) ?? until(text);
}

function milliseconds(text: string | null | undefined, unit: number): number | undefined {
  return text != null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text) * unit) : undefined;
}

/** All three forms of a date that HTTP knows begin with the day's name. */
function until(text: string | null | undefined): number | undefined {
  const instant = text != null && /^[A-Z][a-z]{2}/.test(text.trim()) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(instant) ? undefined : Math.max(0, instant - Date.now());
}

function obstacle(
  agent: string,
  { apiKey, baseUrl, model, price }: ModelSettings,
  { api, model: prefix }: { readonly api: string; readonly model: string },
): string | undefined {
  const key = `${api}_API_KEY`;
  if (apiKey === undefined) {
    return (
      `${agent} has no key here: whoever runs this deployment sets ${key}, with ` +
      `\`npx firebase functions:secrets:set ${key}\` and a deployment, or on a machine of their own in ` +
      'functions/.env.local. For a local trial without a key: `npm start -- --demo-models`. See docs/guides/models.md.'
    );
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return `${key} has characters that no key has. Set it again.`;
  if (!isSafeAddress(baseUrl)) return `${api}_BASE_URL is not an https:// address.`;
  if (model === '') return `${prefix}_MODEL is empty: name a model.`;
  if (!isPrice(price.inputPerMillion)) return notAPrice(`${prefix}_INPUT_PRICE`);
  if (!isPrice(price.outputPerMillion)) return notAPrice(`${prefix}_OUTPUT_PRICE`);
  return undefined;
}

function isPrice(dollars: number): boolean {
  return Number.isFinite(dollars) && dollars >= 0;
}

function notAPrice(name: string): string {
  return `${name} is not a number of US dollars for a million tokens, such as 2.50.`;
}
