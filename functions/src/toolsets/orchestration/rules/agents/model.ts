import { z } from 'zod/mini';

/** Classes of failed requests to models, equal for all vendors. The class decides whether Muster retries. */
export const FAILURE_CLASSES = [
  'overloaded',
  'rate_limited',
  'network',
  'timeout',
  'server_error',
  'context_too_long',
  'authentication',
  'quota',
  'refused',
  'invalid_request',
  'malformed',
  'truncated',
  'aborted',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

export interface ModelRequest {
  readonly prompt: string;
  readonly maxOutputTokens: number;
}

export const usage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  /** Cost of the request in US dollars, if the vendor reports it. */
  cost_usd: z.exactOptional(z.number()),
});
export type Usage = Readonly<z.output<typeof usage>>;

export const answer = z.object({
  text: z.string(),
  /** Name of the model that answered, as reported by the vendor. */
  model: z.string(),
  usage,
  /** False if the answer was truncated at `maxOutputTokens`. */
  complete: z.boolean(),
});
export type ModelAnswer = Readonly<z.output<typeof answer>>;

/** Maximum size of a model's answer in UTF-8 bytes. One journal document contains the answer and its cost. */
export const MAX_MODEL_RESPONSE_BYTES = 800000;

export interface ModelFailureDetails {
  /** Time that, according to the vendor, must pass before a retry. */
  readonly retry_after_ms?: number | undefined;
  /** Usage that the vendor reported before the request failed. */
  readonly usage?: Usage | undefined;
  /** Whether the vendor may have processed and billed the request. */
  readonly outcome_unknown?: boolean;
}

/** Thrown by `HostedAgent.ask`. The message never contains a vendor's text, so it can be shown to callers. */
export class ModelFailure extends Error {
  readonly kind: FailureClass;
  readonly retry_after_ms?: number;
  readonly usage?: Usage;
  readonly outcome_unknown: boolean;

  constructor(kind: FailureClass, message: string, details: ModelFailureDetails = {}) {
    super(message);
    this.name = 'ModelFailure';
    this.kind = kind;
    if (details.retry_after_ms !== undefined) this.retry_after_ms = details.retry_after_ms;
    if (details.usage !== undefined) this.usage = details.usage;
    this.outcome_unknown = details.outcome_unknown ?? false;
  }
}

/** In US dollars per million tokens. */
export const price = z.object({ inputPerMillion: z.number(), outputPerMillion: z.number() });
export type Price = Readonly<z.output<typeof price>>;

export type Availability =
  | { readonly available: true }
  /** Why the agent is unavailable, and how to make it available. */
  | { readonly available: false; readonly reason: string };

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Called with each piece of the answer's text when the piece arrives. */
  readonly onText?: (text: string) => void;
}

/** An agent as models.json describes it. */
export interface AgentProfile {
  readonly name: string;
  /** Name of the provider. The agents of a provider share its key and its quota. */
  readonly provider: string;
  readonly model: string;
  /** Undefined if the price is unknown, which never means that the model is free. */
  readonly price: Price | undefined;
  /** Suitability for each kind of work, from 0 to 1; the context window is in tokens. */
  readonly capabilities: Readonly<Record<'planning' | 'execution' | 'review' | 'contextWindow', number>>;
  /** Maximum number of output tokens that the model accepts in a request. */
  readonly maxOutputTokens: number;
}

/** Values of the setting `effort`, from which OpenAI's models accept some. */
export const MODEL_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ModelEffort = (typeof MODEL_EFFORTS)[number];

export interface HostedAgent extends AgentProfile {
  availability(): Availability;
  /** Sends exactly one request and never retries. @throws ModelFailure */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelAnswer>;
}
