/** Classes of failed requests to models, the same for every vendor. The class decides whether Muster retries. */
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
  /** Name of the model that responded, as the vendor reports it. */
  readonly model: string;
  readonly usage: Usage;
  /** False if the response was truncated at `maxOutputTokens`. */
  readonly complete: boolean;
}

/** Maximum size of a model response, in UTF-8 bytes. The journal stores the response and its cost in one document. */
export const MAX_MODEL_RESPONSE_BYTES = 800000;

export interface ModelFailureDetails {
  /** Time to wait before a retry, in milliseconds, as requested by the vendor. */
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

/** Price of a model, in US dollars. */
export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

export type Availability =
  | { readonly available: true }
  /** The reason also explains how to make the agent available. */
  | { readonly available: false; readonly reason: string };

export interface AskOptions {
  /** Aborts the request to the vendor. */
  readonly signal: AbortSignal;
  /** Called with each piece of the response text when it arrives. */
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
