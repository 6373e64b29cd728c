/** Why a model's call failed, in no vendor's words. What is tried again, and by whom, is decided by these. */
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
  readonly system?: string;
  readonly prompt: string;
  readonly maxOutputTokens: number;
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface ModelAnswer {
  readonly text: string;
  /** The model as the vendor names what answered. */
  readonly model: string;
  readonly usage: Usage;
  /** False: cut at `maxOutputTokens`. */
  readonly complete: boolean;
}

/** The most that an answer may say, in bytes of UTF-8: with what it cost it is one document of a run's journal. */
export const MAX_ANSWER_BYTES = 800000;

export interface ModelFailureDetails {
  /** What the vendor said about when to ask again. */
  readonly retry_after_ms?: number | undefined;
  /** What was counted before it failed. */
  readonly usage?: Usage | undefined;
  /** Whether the vendor may have done the work, and billed it. */
  readonly outcome_unknown?: boolean;
}

/** Thrown by `HostedAgent.ask`. Its message is Muster's own: it never quotes a vendor, and can be shown. */
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

/** In US dollars. */
export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

export type Availability =
  | { readonly available: true }
  /** The reason says what to do about it. */
  | { readonly available: false; readonly reason: string };

export interface AskOptions {
  /** Closes the request to the vendor. */
  readonly signal: AbortSignal;
  /** Is told each piece of the answer as it comes. */
  readonly onText?: (text: string) => void;
}

/** A model behind a vendor's API. */
export interface HostedAgent {
  readonly name: string;
  readonly model: string;
  readonly price: Price;
  availability(): Availability;
  /** Exactly one request: it is never repeated here. @throws ModelFailure */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelAnswer>;
}
