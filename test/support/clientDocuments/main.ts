/** Serves the documents of real clients, below the names of their hosts, and prints where. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const SERVED = new Map(
  ['/claude.ai/oauth/claude-code-client-metadata'].map((path) => [
    path,
    readFileSync(new URL(`.${path}.json`, import.meta.url)),
  ]),
);

const server = createServer((request, response) => {
  const document = SERVED.get(request.url ?? '');
  if (document === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(document);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
process.stdout.write(`parameters: ${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
