// @ts-check
/**
 * Serves Muster at the root of an origin, as in a deployment. The functions emulator serves the function `mcp` below
 * a longer path, but clients that sign in expect `/.well-known`, `/authorize` and `/token` at the root.
 */
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { projectId, region } from '../project.mjs';
import { host } from './ports.mjs';

/**
 * @typedef {import('node:http').IncomingMessage} Incoming
 * @typedef {import('node:http').ServerResponse} Outgoing
 */

const mountPath = `/${projectId}/${region}/mcp`;

/** Lower-case names of headers that are not forwarded, because they concern one connection. Node sets its own. */
const ofRequestsConnection = new Set(['connection', 'keep-alive', 'trailer']);
const ofAnswersConnection = new Set([...ofRequestsConnection, 'transfer-encoding']);

/**
 * Empty data that is written first, so that Node sends the headers before a stream's first event, which can be late.
 * `flushHeaders()` is not used, because it would send header values as UTF-8, although Node has read them as Latin-1.
 */
const headersAlone = Buffer.alloc(0);

/** Node's timeouts are turned off, because a stream lasts until the function ends it. */
const patient = { requestTimeout: 0, keepAliveTimeout: 0 };

/**
 * Forwards every request to the function `mcp`, below its path. Does not keep the process running.
 * @param {object} options
 * @param {number} options.port to listen on
 * @param {number} options.functions the port of the functions emulator
 * @returns {Promise<import('node:http').Server>}
 */
export async function startOrigin({ port, functions }) {
  /** @param {Incoming} request @param {Outgoing} response */
  const serve = (request, response) => {
    forward(request, response, functions).catch(() => refuse(response, functions));
  };
  const server = createServer(patient, serve);
  server.on('checkContinue', serve); // the function, not Node, decides whether the client should send the body
  server.on('connection', (socket) => socket.unref());
  server.unref();
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', () => {}); // for example if too many files are open; the system then refuses the client
  return server;
}

/** @param {Incoming} request @param {Outgoing} response @param {number} functions */
async function forward(request, response, functions) {
  const behind = ask({
    host,
    port: functions,
    method: request.method,
    path: `${mountPath}${pathOf(request)}`,
    headers: without(ofRequestsConnection, request.rawHeaders),
    agent: false, // the server could close a reused connection while the next request is sent
  });
  behind.on('socket', (socket) => socket.unref());
  behind.on('continue', () => response.writeContinue());
  for (const stream of [request, response, behind]) stream.on('error', () => {}); // an error also closes the stream
  // If the response ends early, read the rest of the request; otherwise, the connection's next request is lost.
  response.on('close', () => {
    behind.destroy();
    request.unpipe(behind).resume();
  });
  const answered = once(behind, 'response');
  behind.write(headersAlone);
  request.pipe(behind);
  /** @type {Incoming[]} */
  const [answer] = await answered;
  if (answer?.statusCode === undefined) throw new Error('the functions emulator sent no response');
  response.sendDate = false; // the function's date is forwarded
  response.writeHead(answer.statusCode, without(ofAnswersConnection, answer.rawHeaders));
  response.write(headersAlone);
  await pipeline(answer, response); // ends each stream if the other fails
}

/** Returns path and query, unchanged. The request of a proxy's client has the whole URL. @param {Incoming} request */
function pathOf({ url = '' }) {
  return url.startsWith('/') ? url : `/${url.replace(/^\w+:\/\/[^/?]*\/?|^\*$/, '')}`;
}

/** @param {Set<string>} names @param {string[]} rawHeaders alternating names and values @returns {string[]} */
function without(names, rawHeaders) {
  const isKept = (/** @type {number} */ index) => !names.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase());
  return rawHeaders.filter((_, index) => isKept(index));
}

/** Closes a connection with a partial response, so that the response looks incomplete. @param {Outgoing} response @param {number} functions */
function refuse(response, functions) {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const message = `The functions emulator at http://${host}:${functions} does not respond.`;
  response.writeHead(502, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify({ error: 'bad_gateway', message })}\n`);
}
