/** Endpoint for GitHub webhooks. */
import type { IncomingHttpHeaders } from 'node:http';
import { HttpRejection } from './rejection.ts';
import { type BodyLimits, checkBodyHeaders, type Endpoint, readBody } from './request.ts';
import { respondEarly } from './response.ts';

interface Receiver {
  /** @param received `body` returns the raw bytes, and rejects if the delivery cannot be accepted */
  receive(received: {
    readonly method: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: () => Promise<Uint8Array>;
  }): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * GitHub sends up to 25 MiB, for pushes of many commits. Muster reads only deliveries about pull requests and checks,
 * which contain a few texts of up to 64 KiB. GitHub waits ten seconds for a response. Source:
 * https://docs.github.com/webhooks/webhook-events-and-payloads, "Payload cap";
 * https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks
 */
const DELIVERY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, milliseconds: 10_000 };

/** Returns the endpoint. It reads the body of a delivery only when the receiver asks for it, within limits. */
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
      respondEarly(request, response, { status, headers: plain, body: text });
    } catch (error) {
      if (!(error instanceof HttpRejection)) throw error;
      const { status, message } = error;
      respondEarly(request, response, { status, headers: { ...error.headers, ...plain }, body: message });
    }
  };
}
