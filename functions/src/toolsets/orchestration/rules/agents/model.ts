/** Vendor-neutral classes of model failures. They determine which agent retries, if any. */
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
  /** Model that responded, under the vendor's name. */
  readonly model: string;
  readonly usage: Usage;
  /** False if the response was truncated at `maxOutputTokens`. */
  readonly complete: boolean;
}

/** Maximum size of a model response, in UTF-8 bytes. With its cost it is one document of a run's journal. */
export const MAX_MODEL_RESPONSE_BYTES = 800000;

export interface ModelFailureDetails {
  /** Retry delay that the vendor asked for. */
  readonly retry_after_ms?: number | undefined;
  /** Usage that the vendor reported before the failure. */
  readonly usage?: Usage | undefined;
  /** Whether the vendor may have processed and billed the request. */
  readonly outcome_unknown?: boolean;
}

/** Thrown by `HostedAgent.ask`. The message never quotes a vendor, so it can be shown to callers. */
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
  /** The reason includes what to do about it. */
  | { readonly available: false; readonly reason: string };

export interface AskOptions {
  /** Aborts the request to the vendor. */
  readonly signal: AbortSignal;
  /** Called with each piece of the response as it arrives. */
  readonly onText?: (text: string) => void;
}

/** A model behind a vendor's API. */
export interface HostedAgent {
  readonly name: string;
  readonly model: string;
  readonly price: Price;
  availability(): Availability;
  /** Sends exactly one request and never retries. @throws ModelFailure */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelAnswer>;
}
