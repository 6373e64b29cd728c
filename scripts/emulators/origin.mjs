// @ts-check
/**
 * An origin whose root is Muster's, as a deployment has one. The functions emulator serves the function `mcp` far below
 * its own root, where no client that signs in looks for `/.well-known`, `/authorize` and `/token`.
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

/** What is said of one connection only, by lower-case name. Node says of each what holds there. */
const ofRequestsConnection = new Set(['connection', 'keep-alive', 'trailer']);
const ofAnswersConnection = new Set([...ofRequestsConnection, 'transfer-encoding']);

/**
 * Sends the headers at once: the first event of a stream may be long in coming. `flushHeaders()` would write as UTF-8
 * what Node reads as Latin-1.
 */
const headersAlone = Buffer.alloc(0);

/** A stream lasts as long as the function lets it: none of Node's own limits of time may cut it. */
const patient = { requestTimeout: 0, keepAliveTimeout: 0 };

/**
 * Passes every request on to the function `mcp`, below its path. It does not keep the process alive.
 * @param {object} options
 * @param {number} options.port where it listens
 * @param {number} options.functions the port of the functions emulator
 * @returns {Promise<import('node:http').Server>}
 */
export async function startOrigin({ port, functions }) {
  /** @param {Incoming} request @param {Outgoing} response */
  const serve = (request, response) => {
    forward(request, response, functions).catch(() => refuse(response, functions));
  };
  const server = createServer(patient, serve);
  server.on('checkContinue', serve); // the function's side says whether to go on, and not Node
  server.on('connection', (socket) => socket.unref());
  server.unref();
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', () => {}); // such as too many open files: whoever was not accepted is told by the system
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
    agent: false, // a connection that is kept may be closed just as the next request is sent
  });
  behind.on('socket', (socket) => socket.unref());
  behind.on('continue', () => response.writeContinue());
  for (const stream of [request, response, behind]) stream.on('error', () => {}); // each also closes then
  // Answered or given up. What is left of the request has to be read, or the connection's next one is never seen.
  response.on('close', () => {
    behind.destroy();
    request.unpipe(behind).resume();
  });
  const answered = once(behind, 'response');
  behind.write(headersAlone);
  request.pipe(behind);
  /** @type {Incoming[]} */
  const [answer] = await answered;
  if (answer?.statusCode === undefined) throw new Error('there is no answer');
  response.sendDate = false; // the function's own is passed on
  response.writeHead(answer.statusCode, without(ofAnswersConnection, answer.rawHeaders));
  response.write(headersAlone);
  await pipeline(answer, response); // which breaks off either where the other does
}

/** With the query, byte for byte. A request to a proxy names the whole URL. @param {Incoming} request */
function pathOf({ url = '' }) {
  return url.startsWith('/') ? url : `/${url.replace(/^\w+:\/\/[^/?]*\/?|^\*$/, '')}`;
}

/** @param {Set<string>} names @param {string[]} rawHeaders names and values in turns @returns {string[]} */
function without(names, rawHeaders) {
  const isKept = (/** @type {number} */ index) =>
    !names.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase());
  return rawHeaders.filter((_, index) => isKept(index));
}

/** Whoever has half an answer is cut off, so that it does not pass for a whole one. @param {Outgoing} response @param {number} functions */
function refuse(response, functions) {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const message = `The functions emulator at http://${host}:${functions} does not answer.`;
  response.writeHead(502, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify({ error: 'bad_gateway', message })}\n`);
}
