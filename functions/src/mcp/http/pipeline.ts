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

/** Steps in order: one that needs more than those before it established does not compile. Any may throw to refuse. */
export class Pipeline<Exchange extends object> {
  private readonly steps: (arrived: Arrived) => Promise<Exchange | undefined>;

  private constructor(steps: (arrived: Arrived) => Promise<Exchange | undefined>) {
    this.steps = steps;
  }

  static start(): Pipeline<Arrived> {
    return new Pipeline(async (arrived) => arrived);
  }

  /** Adds what the step returns to the exchange. */
  add<Added extends object>(
    step: (exchange: Exchange) => Added | Promise<Added>,
  ): Pipeline<Exchange & Added> {
    return this.next(async (exchange) => ({ ...exchange, ...(await step(exchange)) }));
  }

  /** Lets the step refuse the request, and do nothing else. */
  check(step: (exchange: Exchange) => void): Pipeline<Exchange> {
    return this.next(async (exchange) => {
      step(exchange);
      return exchange;
    });
  }

  /** Ends the exchange if the step has answered the request, which it returns. */
  answer(step: (exchange: Exchange) => boolean | Promise<boolean>): Pipeline<Exchange> {
    return this.next(async (exchange) => ((await step(exchange)) ? undefined : exchange));
  }

  /** Answers a request. @throws Refusal or any other error that a step throws */
  async run(arrived: Arrived): Promise<void> {
    if ((await this.steps(arrived)) !== undefined) throw new Error('No step has answered the request.');
  }

  private next<Next extends object>(step: (exchange: Exchange) => Promise<Next | undefined>): Pipeline<Next> {
    return new Pipeline(async (arrived) => {
      const exchange = await this.steps(arrived);
      return exchange && step(exchange);
    });
  }
}
