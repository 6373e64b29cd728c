/** Base class of all vendors' models. It handles settings, requests and streamed responses. */
import type { z } from 'zod';
import { isSafeAddress } from '../kernel/platform.ts';
import { Service } from '../kernel/ports.ts';
import {
  type AgentProfile,
  type AskOptions,
  type Availability,
  estimatedTokens,
  type HostedAgent,
  type ModelAnswer,
  type ModelEffort,
  ModelFailure,
  type ModelRequest,
  type Usage,
} from '../toolsets/orchestration/index.ts';
import { abortFailure, failure, finalFailure, type Progress, usageOf } from './modelFailure.ts';

export interface ModelSettings extends AgentProfile {
  /** Base URL of the API. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  /** Secret that contains the key, such as `ANTHROPIC_API_KEY`; undefined if the vendor requires no key. */
  readonly secret?: string | undefined;
  /** How much the model thinks. */
  readonly effort?: ModelEffort | undefined;
  /** Why the agent cannot be used, if that is known before any request. */
  readonly obstacle?: string | undefined;
}

/** Access to a vendor through a platform with its own credentials and errors. */
interface Platform {
  /** Runs before each request. @throws ModelFailure without credentials */
  prepare(progress: Progress): Promise<void>;
  /** Returns the failure of a request if its cause is specific to the platform. */
  failureOf(error: unknown, progress: Progress): ModelFailure | undefined;
}

/** Part of a streamed response in the form that all vendors share. */
export interface AnswerPart {
  readonly text?: string | undefined;
  /** Thinking of the model. It is billed as output, but is not part of the answer. */
  readonly thought?: string | undefined;
  readonly model?: string | undefined;
  /** Usage up to this part. Later parts omit values that did not change. */
  readonly usage?: Usage | undefined;
  /** Finish reason in the vendor's words. */
  readonly finish?: string | undefined;
  /** Error that the vendor reports within the response. */
  readonly error?: unknown;
  /** Set in the last part. A response without such a part was interrupted. */
  readonly ended?: boolean;
}

/** Maximum length of a model's name. The vendor sends the name, and the console shows it. */
const NAME_LENGTH = 100;

export abstract class VendorModel<Client, Settings extends ModelSettings = ModelSettings>
  extends Service<Settings>
  implements HostedAgent
{
  protected readonly settings = this.ports;
  readonly name = this.settings.name;
  readonly provider = this.settings.provider;
  readonly model = this.settings.model;
  readonly price = this.settings.price;
  readonly capabilities = this.settings.capabilities;
  readonly maxOutputTokens = this.settings.maxOutputTokens;
  protected abstract readonly part: z.ZodType<AnswerPart>;
  private client: Promise<Client> | undefined;

  /** Loads the vendor's SDK. */
  protected abstract connect(): Promise<Client>;

  /** Sends the request. Resolves when the response starts. The signal closes the connection. */
  protected abstract open(
    client: Client,
    request: ModelRequest,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<AsyncIterable<unknown>>;

  /** Classifies a finish reason: complete, cut at the output limit, context full, refused, or no answer. */
  protected abstract meaningOf(finish: string): 'whole' | 'cut' | 'full' | 'refused' | 'none';

  protected abstract failureOf(error: unknown, progress: Progress): ModelFailure;

  availability(): Availability {
    const reason = unavailableReason(this.settings);
    return reason === undefined ? { available: true } : { available: false, reason };
  }

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const asked = estimatedTokens(request.prompt);
    const progress: Progress = { agent: this.name, asked, answered: false, understood: false, received: 0 };
    let [text, model, finish, ended] = ['', this.model, '', false];
    for await (const part of this.received(request, signal, progress)) {
      progress.received += estimatedTokens(`${part.text ?? ''}${part.thought ?? ''}`);
      if (part.usage) progress.usage = larger(part.usage, progress.usage);
      if (part.text) {
        text += part.text;
        onText?.(part.text);
      }
      model = part.model ?? model;
      // A refusal stays one, even if the response then ends like an answer.
      if (part.finish !== undefined && this.meaningOf(finish) !== 'refused') finish = part.finish;
      ended ||= part.ended ?? false;
    }
    if (!progress.understood) throw failure('malformed', progress);
    if (!ended) throw failure('truncated', progress);
    return {
      // JSON can contain unpaired surrogates, which some databases and clients refuse.
      text: text.replace(/\p{Surrogate}/gu, '\ufffd'),
      model: model.slice(0, NAME_LENGTH),
      usage: usageOf(progress) ?? { input_tokens: asked, output_tokens: 0 },
      complete: this.isComplete(finish, text, progress),
    };
  }

  /** Returns whether the answer is complete. @throws ModelFailure if the response contains no answer */
  private isComplete(finish: string, text: string, progress: Progress): boolean {
    const meaning = this.meaningOf(finish);
    if (meaning === 'refused') throw finalFailure('refused', progress);
    if (meaning === 'none') throw finalFailure('malformed', progress, 'no answer');
    if (meaning === 'whole' && text === '') throw finalFailure('malformed', progress, 'empty answer');
    // The prompt fills the whole context, so a higher output limit would not help.
    if (meaning === 'full' && text.trim() === '') throw finalFailure('context_too_long', progress);
    return meaning === 'whole';
  }

  protected readonly platform?: Platform;

  /** Returns the vendor's client. The next request connects again if this fails. @throws ModelFailure */
  private async connected(progress: Progress): Promise<Client> {
    try {
      await this.platform?.prepare(progress);
      this.client ??= this.connect();
      return await this.client;
    } catch (error) {
      this.client = undefined;
      throw this.classified(error, progress);
    }
  }

  private classified(error: unknown, progress: Progress): ModelFailure {
    if (error instanceof ModelFailure) return error;
    return this.platform?.failureOf(error, progress) ?? this.failureOf(error, progress);
  }

  /** Yields the parts of the response. Always closes the connection. @throws ModelFailure */
  private async *received(request: ModelRequest, signal: AbortSignal, progress: Progress): AsyncGenerator<AnswerPart> {
    const client = await this.connected(progress);
    if (signal.aborted) throw abortFailure(signal, progress, false);
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
        if (data.error !== undefined) throw data.error;
      }
    } catch (error) {
      if (error instanceof ModelFailure) throw error;
      if (signal.aborted) throw abortFailure(signal, progress, true);
      if (!isResponseTooLarge(error)) throw this.classified(error, progress);
      throw failure('malformed', progress, { detail: `more than ${MAX_BODY_MEBIBYTES} MiB` });
    } finally {
      reading.abort();
    }
    // If the request is aborted, the SDKs end the iteration as if the response were complete.
    if (signal.aborted) throw abortFailure(signal, progress, true);
  }
}

function larger(usage: Usage, before: Usage = usage): Usage {
  return {
    input_tokens: Math.max(usage.input_tokens, before.input_tokens),
    output_tokens: Math.max(usage.output_tokens, before.output_tokens),
    ...(usage.cost_usd !== undefined && { cost_usd: usage.cost_usd }),
  };
}

const MEBIBYTE = 1024 * 1024;

/** Maximum size of a response, several times the longest answer with its events. Larger responses are aborted. */
const MAX_BODY_MEBIBYTES = 32;

class ResponseTooLargeError extends Error {
  override readonly name = 'TooMuchError';
}

function isResponseTooLarge(error: unknown): boolean {
  if (error instanceof ResponseTooLargeError) return true;
  return error instanceof Error && error.cause !== undefined && isResponseTooLarge(error.cause);
}

/** Fetches with a size limit and without redirects, because a redirect would send the API key to another host. */
export async function fetchOnce(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (response.body === null) return response;
  let bytes = 0;
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes <= MAX_BODY_MEBIBYTES * MEBIBYTE) controller.enqueue(chunk);
        else controller.error(new ResponseTooLargeError('The response of the vendor is too large.'));
      },
    }),
  );
  return new Response(bounded, response);
}

/** Options of the SDKs of Anthropic and OpenAI. The log of an SDK may quote responses. */
export const SDK_OPTIONS = { maxRetries: 0, fetch: fetchOnce, logLevel: 'off' } as const;

/** Returns the wait before a retry. Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const text = headers?.get('retry-after');
  return milliseconds(headers?.get('retry-after-ms'), 1) ?? milliseconds(text, 1000) ?? until(text);
}

function milliseconds(text: string | null | undefined, unit: number): number | undefined {
  return text != null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text) * unit) : undefined;
}

/** Returns the milliseconds until an HTTP date. All three formats of a date start with the name of the day. */
function until(text: string | null | undefined): number | undefined {
  const instant = text != null && /^[A-Z][a-z]{2}/.test(text.trim()) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(instant) ? undefined : Math.max(0, instant - Date.now());
}

function unavailableReason({ name, provider, secret, apiKey, baseUrl, obstacle }: ModelSettings): string | undefined {
  if (obstacle !== undefined) return obstacle;
  if (secret !== undefined && apiKey === undefined) return missingKey(name, provider, secret);
  const key = secret === MODEL_KEYS ? `The key "${provider}" in ${MODEL_KEYS}` : secret;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    return `${key} contains invalid characters. Set it again.`;
  if (!isSafeAddress(baseUrl)) return `The address of the provider "${provider}" is not an https:// address.`;
  return undefined;
}

/** Secret with the keys of all providers except Anthropic and Gemini, as a JSON object. */
export const MODEL_KEYS = 'MODEL_KEYS';

function missingKey(agent: string, provider: string, secret: string): string {
  const value = secret === MODEL_KEYS ? ` to a JSON object with "${provider}"` : '';
  return (
    `${agent} has no API key. Operator: in a deployment, set ${secret}${value} with ` +
    `\`npx firebase functions:secrets:set ${secret}\` and deploy. On your own machine, set it in ` +
    'functions/.env.local. To try it locally without a key: `npm start -- --demo-models`. See docs/guides/models.md.'
  );
}
