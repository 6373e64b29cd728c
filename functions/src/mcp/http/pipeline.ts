/** Pipeline of steps that responds to a request. Each step gets the data of all previous steps. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';
import type { Randomness } from '../../kernel/ports.ts';
import type { TimeLeft } from '../callContext.ts';
import type { Catalogs } from '../catalog.ts';
import type { Toolset } from '../tool.ts';
import type { StreamPorts } from './streams.ts';

/** Ports and settings of the endpoint. */
export interface EndpointDependencies extends StreamPorts {
  readonly toolsets: readonly Toolset[];
  readonly randomness: Randomness;
  /** Allowed origins of web pages, in addition to local ones: `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  readonly version: string;
  readonly addresses: Addresses;
  /** Number of the deployment's proxies in front of Google's front end. */
  readonly trustedProxies: number;
  /** Path that a component in front removed from `req.url`, such as the emulator. */
  readonly mountPath: string | undefined;
}

/** A request before the first step. */
export interface PipelineRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly timeLeft: TimeLeft;
  readonly deployment: EndpointDependencies;
  readonly catalogs: Catalogs;
}

/** Result of a step, or a promise only if it must wait: each promise costs as much as a small step. */
type MaybeAsync<T> = T | Promise<T>;

type Continue<Exchange> = (exchange: Exchange) => MaybeAsync<void>;

/** Ordered steps. A step that needs data of a later step does not compile. Any step may throw to refuse. */
export class Pipeline<Exchange extends object> {
  /** Composes the steps so far with the remaining ones. */
  private readonly before: (then: Continue<Exchange>) => Continue<PipelineRequest>;

  private constructor(before: (then: Continue<Exchange>) => Continue<PipelineRequest>) {
    this.before = before;
  }

  static start(): Pipeline<PipelineRequest> {
    return new Pipeline((then) => then);
  }

  /** Adds the step's result to the exchange. */
  add<Added extends object>(step: (exchange: Exchange) => MaybeAsync<Added>): Pipeline<Exchange & Added> {
    return new Pipeline((then) =>
      this.before((exchange) => after(step(exchange), (added) => then(Object.assign(exchange, added)))),
    );
  }

  /** Adds a step that may only refuse the request. */
  check(step: (exchange: Exchange) => void): Pipeline<Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) => {
        step(exchange);
        return then(exchange);
      }),
    );
  }

  /** Ends the exchange if the step returns true, which means that it has sent the response. */
  respond(step: (exchange: Exchange) => MaybeAsync<boolean>): Pipeline<Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) => after(step(exchange), (isAnswered) => (isAnswered ? undefined : then(exchange)))),
    );
  }

  /** Returns the function that serves a request. It throws, or rejects with, a Refusal or any error of a step. */
  end(): (arrived: PipelineRequest) => MaybeAsync<void> {
    return this.before(() => {
      throw new Error('No step has answered the request.');
    });
  }
}

function after<T>(result: MaybeAsync<T>, then: (value: T) => MaybeAsync<void>): MaybeAsync<void> {
  return result instanceof Promise ? result.then(then) : then(result);
}
