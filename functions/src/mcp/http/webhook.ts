/** The endpoint that GitHub delivers its webhooks to. */
import type { IncomingHttpHeaders } from 'node:http';
import { type BodyLimits, checkBodyHeaders, readBody } from './body.ts';
import { Refusal } from './refusal.ts';
import type { Endpoint } from './request.ts';
import { answerEarly } from './response.ts';

interface Receiver {
  /** @param received its `body` gives the bytes as they came, and rejects where the delivery cannot be taken */
  receive(received: {
    readonly method: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: () => Promise<Uint8Array>;
  }): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * GitHub lets deliveries be 25 MiB, for pushes of many commits. Those of pull requests and checks, which are
 * all that is read here, hold a few texts of 64 KiB at most. It waits ten seconds for an answer.
 * Source: https://docs.github.com/webhooks/webhook-events-and-payloads, "Payload cap";
 * https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks
 */
const DELIVERY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, milliseconds: 10_000 };

/** A delivery is read within bounds, and only once its receiver wants it. */
export function createWebhookEndpoint(receiver: Receiver): Endpoint {
  return async (request, response) => {
    const { method = '', headers } = request;
    const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
    const body = async () => {
      checkBodyHeaders(request, DELIVERY_LIMITS);
      return readBody(request, response, DELIVERY_LIMITS);
    };
    try {
      const { status, text } = await receiver.receive({ method, headers, body });
      answerEarly(request, response, { status, headers: plain, body: text });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, message } = error;
      answerEarly(request, response, { status, headers: { ...error.headers, ...plain }, body: message });
    }
  };
}
