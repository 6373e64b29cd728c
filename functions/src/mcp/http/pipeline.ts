/** Pipeline of steps that responds to an HTTP request. Each step gets the data that all earlier steps added. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';
import type { Randomness } from '../../kernel/ports.ts';
import type { TimeLeft } from '../callContext.ts';
import type { Catalogs } from '../catalog.ts';
import type { Toolset } from '../tool.ts';
import type { StreamPorts } from './streams.ts';

export interface EndpointDependencies extends StreamPorts {
  readonly toolsets: readonly Toolset[];
  readonly randomness: Randomness;
  /** Origins of web pages that may call, such as `https://console.example`, in addition to local origins. */
  readonly allowedOrigins: readonly string[];
  readonly version: string;
  readonly addresses: Addresses;
  /** Number of proxies of the deployment that are in front of Google's front end. */
  readonly trustedProxies: number;
  /** Path that a component in front of the server has removed from `req.url`. The emulator does this. */
  readonly mountPath: string | undefined;
}

export interface PipelineRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly timeLeft: TimeLeft;
  readonly deployment: EndpointDependencies;
  readonly catalogs: Catalogs;
}

/** A step returns a promise only if it must wait, because each promise costs as much as a small step. */
type MaybeAsync<T> = T | Promise<T>;

type Continue<Exchange> = (exchange: Exchange) => MaybeAsync<void>;

/** A list of steps. A step that needs data of a later step does not compile. Steps may throw an HttpRejection. */
export class Pipeline<Exchange extends object> {
  /** Returns a function that runs all steps added so far, and then `then`. */
  private readonly before: (then: Continue<Exchange>) => Continue<PipelineRequest>;

  private constructor(before: (then: Continue<Exchange>) => Continue<PipelineRequest>) {
    this.before = before;
  }

  static start(): Pipeline<PipelineRequest> {
    return new Pipeline((then) => then);
  }

  /** Adds a step whose result is added to the data of the request. */
  add<Added extends object>(step: (exchange: Exchange) => MaybeAsync<Added>): Pipeline<Exchange & Added> {
    return new Pipeline((then) =>
      this.before((exchange) => after(step(exchange), (added) => then(Object.assign(exchange, added)))),
    );
  }

  /** Adds a step that can only reject the request, by throwing. */
  check(step: (exchange: Exchange) => void): Pipeline<Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) => {
        step(exchange);
        return then(exchange);
      }),
    );
  }

  /** Adds a step that may respond. If it returns true, it has sent the response, and no further step runs. */
  respond(step: (exchange: Exchange) => MaybeAsync<boolean>): Pipeline<Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) => after(step(exchange), (isAnswered) => (isAnswered ? undefined : then(exchange)))),
    );
  }

  /** Returns the request handler. It throws or rejects with the error of a step, for example an HttpRejection. */
  end(): (arrived: PipelineRequest) => MaybeAsync<void> {
    return this.before(() => {
      throw new Error('No step has answered the request.');
    });
  }
}

function after<T>(result: MaybeAsync<T>, then: (value: T) => MaybeAsync<void>): MaybeAsync<void> {
  return result instanceof Promise ? result.then(then) : then(result);
}
