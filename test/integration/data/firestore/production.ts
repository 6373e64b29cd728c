/**
 * Makes the emulator available at Firestore's address in production, firestore.googleapis.com over TLS, through a
 * proxy that records each call.
 */

import { createServer } from 'node:http';
import { connect, constants, createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { connect as connectTo } from 'node:net';
import type { Duplex } from 'node:stream';
import { selfSigned } from '../../../support/certificate.ts';
import { listen, portOf } from '../../../support/listening.ts';

const HOST = 'firestore.googleapis.com';

export interface Call {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Production {
  /** Address of the proxy, for the environment variable `grpc_proxy`. */
  readonly proxy: string;
  /** Certificate as PEM, for the file that `GRPC_DEFAULT_SSL_ROOTS_FILE_PATH` names. */
  readonly certificate: string;
  readonly calls: readonly Call[];
  close(): void;
}

export async function openProduction(emulator: string): Promise<Production> {
  const calls: Call[] = [];
  const upstream = connect(`http://${emulator}`);
  const { key, cert } = selfSigned(HOST);
  const server = createSecureServer({ key, cert });
  server.on('stream', (stream, headers) => {
    calls.push({ method: String(headers[':path']).split('/').at(-1) ?? '', headers });
    const { ':authority': _authority, ...rest } = headers;
    forward(stream, upstream.request(rest));
  });
  server.on('sessionError', () => undefined); // The client's process resets the connection when it exits.
  await listen(server);
  const proxy = createServer();
  const sockets = new Set<Duplex>();
  proxy.on('connect', (request, socket) => {
    if (request.url !== `${HOST}:443`) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const onwards = connectTo(portOf(server), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onwards).pipe(socket);
    });
    for (const one of [socket, onwards]) {
      sockets.add(one);
      one.on('error', () => undefined);
    }
    return undefined;
  });
  return {
    proxy: await listen(proxy),
    certificate: cert,
    calls,
    close() {
      for (const socket of sockets) socket.destroy();
      for (const one of [proxy, server]) one.close();
      upstream.destroy();
    },
  };
}

function forward(stream: ServerHttp2Stream, onwards: ReturnType<ReturnType<typeof connect>['request']>): void {
  let trailers: IncomingHttpHeaders = {};
  onwards.on('response', ({ ...headers }, flags) => {
    const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0; // If a call fails at once, its response is one frame.
    stream.respond(headers, isAll ? { endStream: true } : { waitForTrailers: true });
    if (isAll) return;
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    onwards.pipe(stream);
  });
  onwards.on('trailers', (received) => {
    trailers = received;
  });
  stream.pipe(onwards);
  stream.on('error', () => onwards.close());
  onwards.on('error', () => stream.close());
}
