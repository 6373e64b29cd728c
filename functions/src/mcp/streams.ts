/** What streams have in common that outlive their first answer: `/mcp/events` and `subscriptions/listen`. */
import { noteSeen } from '../domain/agents/sighting.ts';
import type { MusterError } from '../domain/errors.ts';
import type { Authenticator } from '../domain/ports.ts';
import type { CallPorts } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { OpenStreams } from './openStreams.ts';
import { presentable } from './projection.ts';

export interface StreamLimits {
  /** After this a stream ends itself, for its client to come back: a function may not run forever. */
  readonly lifetimeMs: number;
  /** How often something is sent where nothing happens, and how often the agent is noted as alive. */
  readonly keepAliveMs: number;
}

export interface StreamPorts extends CallPorts {
  readonly authenticator: Authenticator;
  readonly streams: StreamLimits;
  readonly openStreams: OpenStreams;
}

/**
 * One stream, from its opening to its end. Opening it is a call like any other; its end has a log entry of its
 * own, so that no metric takes its length for a slow answer.
 */
export class Stream {
  readonly #ports: StreamPorts;
  readonly #exchange: Exchange;
  readonly #name: string;
  readonly #started = performance.now();
  readonly #ending = new AbortController();
  readonly #lifetime: NodeJS.Timeout;
  readonly #presence: NodeJS.Timeout | undefined;
  readonly #gone: AbortSignal;
  #error: MusterError | undefined;
  #closed = false;

  /** @param name the stream's in the log */
  constructor(ports: StreamPorts, exchange: Exchange, name: string) {
    this.#ports = ports;
    this.#exchange = exchange;
    this.#name = name;
    const { lifetimeMs, keepAliveMs } = ports.streams;
    this.#lifetime = setTimeout(this.#finish, lifetimeMs);
    this.#gone = exchange.gone();
    this.#gone.addEventListener('abort', this.#finish, { once: true });
    if (this.#gone.aborted) this.#finish();
    const { agentId } = exchange.principal;
    if (agentId === undefined) return;
    this.#presence = setInterval(() => void noteSeen(ports.presence, ports.log, agentId), keepAliveMs);
  }

  /** Its client has gone, its time is over, or it was closed. */
  get end(): AbortSignal {
    return this.#ending.signal;
  }

  readonly #finish = (): void => this.#ending.abort();

  /**
   * Counts against the principal's limits, until its end.
   * @throws MusterError RATE_LIMITED
   */
  async admit(): Promise<void> {
    const { limits, openStreams } = this.#ports;
    const { principal } = this.#exchange;
    await limits.take(principal);
    const leave = openStreams.open(principal.uid);
    if (this.end.aborted) leave();
    else this.end.addEventListener('abort', leave, { once: true });
  }

  /**
   * Asks whether the credential is still good: a stream outlives a revocation and an expiry.
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED
   */
  async authenticateAgain(): Promise<void> {
    await this.#ports.authenticator.authenticate(this.#exchange.credential);
  }

  /** @returns the error as its client may see it; undefined where the stream had ended before */
  fail(error: unknown): MusterError | undefined {
    if (this.end.aborted) return undefined;
    this.#error = presentable(error, this.#exchange.requestId, this.#name, this.#ports.log);
    return this.#error;
  }

  /** May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#finish();
    clearTimeout(this.#lifetime);
    clearInterval(this.#presence);
    this.#gone.removeEventListener('abort', this.#finish);
    const { requestId, principal } = this.#exchange;
    this.#ports.log.info('stream_ended', {
      requestId,
      principal: principal.uid,
      stream: this.#name,
      outcome: this.#error?.code ?? 'OK',
      milliseconds: Math.round(performance.now() - this.#started),
    });
  }
}

/**
 * The items as they come, and `undefined` whenever none has come for so long. Asks for the next item only when
 * it is asked itself, so that a slow reader slows the source.
 */
export async function* withPauses<T extends object>(
  items: AsyncIterable<T>,
  pauseMs: number,
): AsyncGenerator<T | undefined, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const result = await within(next, pauseMs);
      if (result === undefined) {
        yield undefined;
        continue;
      }
      if (result.done === true) return;
      yield result.value;
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  return Promise.race([promise, pause]).finally(() => clearTimeout(timer));
}
