/** A chain of steps that answers a request: each step is entered once, with all that the steps before it established. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';
import type { Randomness } from '../../kernel/ports.ts';
import type { TimeLeft } from '../callContext.ts';
import type { Catalogues } from '../catalogue.ts';
import type { Toolset } from '../tool.ts';
import type { StreamPorts } from './streams.ts';

/** The ports and settings of the endpoint. */
export interface EndpointDependencies extends StreamPorts {
  readonly toolsets: readonly Toolset[];
  readonly randomness: Randomness;
  /** The origins of web pages that may call, beside local ones: `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  readonly version: string;
  readonly addresses: Addresses;
  /** The number of proxies of the deployment in front of Google's front end. */
  readonly trustedProxies: number;
  /** The path before `req.url` that a component in front has removed: the emulator does. */
  readonly mountPath: string | undefined;
}

/** A request before the first step. */
export interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly timeLeft: TimeLeft;
  readonly deployment: EndpointDependencies;
  readonly catalogues: Catalogues;
}

/** The result of a step, or its promise if it must wait: each promise costs a request as much as a small step. */
type Soon<T> = T | Promise<T>;

type Continue<Exchange> = (exchange: Exchange) => Soon<void>;

/** Steps in order: one that needs more than those before it established does not compile. Any may throw to refuse. */
export class Pipeline<Exchange extends object> {
  /** Composes the steps so far with the rest of the steps. */
  private readonly before: (then: Continue<Exchange>) => Continue<Arrived>;

  private constructor(before: (then: Continue<Exchange>) => Continue<Arrived>) {
    this.before = before;
  }

  static start(): Pipeline<Arrived> {
    return new Pipeline((then) => then);
  }

  /** Adds what the step returns to the exchange. */
  add<Added extends object>(step: (exchange: Exchange) => Soon<Added>): Pipeline<Exchange & Added> {
    return new Pipeline((then) =>
      this.before((exchange) => after(step(exchange), (added) => then(Object.assign(exchange, added)))),
    );
  }

  /** Lets the step refuse the request, and do nothing else. */
  check(step: (exchange: Exchange) => void): Pipeline<Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) => {
        step(exchange);
        return then(exchange);
      }),
    );
  }

  /** Ends the exchange if the step has answered the request, which it returns. */
  answer(step: (exchange: Exchange) => Soon<boolean>): Pipeline<Exchange> {
    return new Pipeline((then) =>
      this.before((exchange) =>
        after(step(exchange), (isAnswered) => (isAnswered ? undefined : then(exchange))),
      ),
    );
  }

  /** Returns the function that answers a request. It throws, or rejects with, a Refusal or any error of a step. */
  end(): (arrived: Arrived) => Soon<void> {
    return this.before(() => {
      throw new Error('No step has answered the request.');
    });
  }
}

function after<T>(result: Soon<T>, then: (value: T) => Soon<void>): Soon<void> {
  return result instanceof Promise ? result.then(then) : then(result);
}
