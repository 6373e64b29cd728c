import { createServer, request } from 'node:http';
import { close, listen } from '../../support/listening.ts';

export interface CredentialProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a proxy that adds the credential to each request. The conformance suites cannot send a credential. */
export async function withCredential(endpoint: string, credential: string): Promise<CredentialProxy> {
  const target = new URL(endpoint);
  const server = createServer((inbound, answer) => {
    const headers = { ...inbound.headers, authorization: `Bearer ${credential}` };
    const outbound = request(target, { method: inbound.method ?? 'GET', headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    outbound.on('error', () => answer.destroy());
    answer.on('close', () => outbound.destroy());
    inbound.pipe(outbound);
  });
  return { url: `${await listen(server)}/mcp`, close: () => close(server) };
}
