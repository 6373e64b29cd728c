/**
 * Ways to serve one request with one server. Two of them are transports that carry the request there and its
 * answer back, without the HTTP objects of the SDK's own, which cost as much as all else in a cheap call.
 */
import {
  isJSONRPCNotification,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageClassification,
  PerRequestHTTPServerTransport,
  type Server,
  type Transport,
} from '@modelcontextprotocol/server';

type Resolve = (message: JSONRPCMessage) => void;

class LegacyOnce implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #resolve: Resolve;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!isJSONRPCNotification(message)) this.#resolve(message);
  }

  async close(): Promise<void> {}
}

/** The SDK knows the revision that a server is to speak by this class alone. */
class ModernOnce extends PerRequestHTTPServerTransport {
  readonly #resolve: Resolve;

  constructor(classification: MessageClassification, resolve: Resolve) {
    super({ classification });
    this.#resolve = resolve;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if (!isJSONRPCNotification(message)) this.#resolve(message);
  }
}

/** The answer to a request of the 2025 revisions, as JSON. */
export function answerLegacy(server: Server, request: JSONRPCRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const transport = new LegacyOnce((message) => resolve(JSON.stringify(message)));
    server.connect(transport).then(() => transport.onmessage?.(request), reject);
  });
}

/** The answer to a request of 2026-07-28 that the SDK's checks would let through to the server, as JSON. */
export function answerModern(
  server: Server,
  request: JSONRPCRequest,
  classification: MessageClassification,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const transport = new ModernOnce(classification, (message) => resolve(JSON.stringify(message)));
    server.connect(transport).then(() => transport.onmessage?.(request, { classification }), reject);
  });
}

/** The answer to a request of the 2025 revisions, as a stream if the server sends something before it. */
export async function streamLegacy(server: Server, request: JSONRPCRequest): Promise<Response> {
  const transport = new PerRequestHTTPServerTransport({ classification: { era: 'legacy' } });
  await server.connect(transport);
  return transport.handleMessage(request);
}
