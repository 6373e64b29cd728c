/** The HTTP face of a webhook: what is delivered is read within bounds, and only once its receiver wants it. */
import type { Endpoint } from './http.ts';
import { Refusal } from './refusal.ts';
import { answerEarly, type BodyLimits, checkBodyHeaders, readBody } from './requestBody.ts';

interface Received {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes as they came. Rejects where the delivery cannot be taken. */
  readonly body: () => Promise<Uint8Array>;
}

interface Receiver {
  receive(received: Received): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * GitHub lets deliveries be 25 MiB, for pushes of many commits. Those of pull requests and checks, which are
 * all that is read here, hold a few texts of 64 KiB at most. It waits ten seconds for an answer.
 * Source: https://docs.github.com/webhooks/webhook-events-and-payloads, "Payload cap";
 * https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks
 */
const LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, milliseconds: 10_000 };

export function createDeliveryEndpoint(receiver: Receiver): Endpoint {
  return async (request, response) => {
    const { method = '', headers } = request;
    const body = async () => {
      checkBodyHeaders(request, LIMITS);
      return readBody(request, response, LIMITS);
    };
    const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
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
