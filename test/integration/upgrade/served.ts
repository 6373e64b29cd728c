/**
 * Program that serves all functions of a bundle with the functions framework, each at a path such as `/sweep`.
 * Sends its URL and the manifests to its parent process. Usage: `node served.ts <folder of the bundle>`
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import * as framework from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { z } from 'zod';
import { type Manifest, manifest } from './manifest.ts';

const handler = z.custom<framework.HttpFunction & framework.CloudEventFunction<unknown>>(
  (value) => typeof value === 'function',
);

const loaded: object = await import(pathToFileURL(`${process.argv[2]}/lib/index.js`).href);
const manifests: Record<string, Manifest> = {};
const servers = new Map<string, ReturnType<typeof getTestServer>>();
for (const [name, exported] of Object.entries(loaded)) {
  const own = manifest.parse(exported.__endpoint);
  if (own.eventTrigger === undefined) framework.http(name, handler.parse(exported));
  else framework.cloudEvent(name, handler.parse(exported));
  manifests[name] = own;
  servers.set(name, getTestServer(name));
}

const server = createServer((request, response) => {
  const [, name = '', rest = ''] = /^\/([A-Za-z]+)(.*)$/.exec(request.url ?? '') ?? [];
  const own = servers.get(name);
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  if (own === undefined) response.writeHead(404).end();
  else own.emit('request', request, response);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}`, manifests });
});
process.once('disconnect', () => process.exit());
