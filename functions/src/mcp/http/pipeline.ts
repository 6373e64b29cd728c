/** Pipeline of steps that responds to an HTTP request. Each step gets the data that all earlier steps added. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';
import type { Log, Randomness } from '../../kernel/ports.ts';
import type { RequestContext } from '../callContext.ts';
import type { Catalogs } from '../catalog.ts';
import type { Toolset } from '../tool.ts';
import type { StreamPorts } from './streams.ts';

/** Dependencies of the steps that need no services. */
export interface FrontDependencies {
  readonly log: Log;
  readonly randomness: Randomness;
  /** Names of the deployment's toolsets, in listing order. */
  readonly toolsetNames: readonly string[];
  /** Origins of web pages that may call, such as `https://console.example`, in addition to local origins. */
  readonly allowedOrigins: readonly string[];
  readonly addresses: Addresses;
  /** Number of proxies of the deployment that are in front of Google's front end. */
  readonly trustedProxies: number;
  /** Path that a component in front of the server has removed from `req.url`. The emulator does this. */
  readonly mountPath: string | undefined;
}

/** Dependencies of all other steps. */
export interface AnswerDependencies extends StreamPorts {
  readonly toolsets: readonly Toolset[];
  readonly version: string;
}

export interface PipelineRequest extends Pick<RequestContext, 'requestId' | 'timeLeft'> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly front: FrontDependencies;
}

export interface WithServices {
  readonly deployment: AnswerDependencies;
  readonly catalogs: Catalogs;
}

/** A step returns a promise only if it must wait, because each promise costs as much as a small step. */
export type MaybeAsync<T> = T | Promise<T>;
type Continue<Exchange> = (exchange: Exchange) => MaybeAsync<unknown>;

/** A list of steps. A step that needs data of a later step does not compile. Steps may throw an HttpRejection. */
export class Pipeline<Start, Exchange extends object> {
  /** Returns a function that runs all steps added so far, and then `then`. */
  private readonly before: (then: Continue<Exchange>) => Continue<Start>;

  private constructor(before: (then: Continue<Exchange>) => Continue<Start>) {
    this.before = before;
  }

  static start<Start extends object>(): Pipeline<Start, Start> {
    return new Pipeline((then) => then);
  }

  /** Adds a step whose result is added to the data of the request. */
  add<Added extends object>(step: (exchange: Exchange) => MaybeAsync<Added>): Pipeline<Start, Exchange & Added> {
    return new Pipeline((then) =>
      this.before((exchange) => after(step(exchange), (added) => then(Object.assign(exchange, added)))),
    );
  }

  /** Adds a step that can only reject the request, by throwing. */
  check(step: (exchange: Exchange) => void): Pipeline<Start, Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) => {
        step(exchange);
        return then(exchange);
      }),
    );
  }

  /** Adds a step that may respond. If it returns true, it has sent the response, and no further step runs. */
  respond(step: (exchange: Exchange) => MaybeAsync<boolean>): Pipeline<Start, Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) => after(step(exchange), (isAnswered) => (isAnswered ? undefined : then(exchange)))),
    );
  }

  /** Returns the request handler, with its last step. It throws or rejects with the error of a step. */
  end(step: Continue<Exchange>): Continue<Start> {
    return this.before(step);
  }
}

/** Continues with the result immediately, unless it is a promise. */
export function after<T>(result: MaybeAsync<T>, then: (value: T) => MaybeAsync<unknown>): MaybeAsync<unknown> {
  return result instanceof Promise ? result.then(then) : then(result);
}
