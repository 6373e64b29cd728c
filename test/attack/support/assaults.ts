/** Requests of kinds that once crashed or blocked an instance. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { gzipSync } from 'node:zlib';

export interface Assailants {
  readonly url: string;
  readonly leader: string;
  readonly worker: string;
  readonly viewer: string;
}

/** Sends a valid or malformed request, and waits for the response or for the end of the connection. */
export type Assault = (by: Assailants) => Promise<void>;

const MEBIBYTE = 1024 * 1024;

/** 400 MiB, compressed to 400 kB: 100 copies of one compressed part, which gzip decodes as one text. */
const BOMB = Buffer.concat(Array.from({ length: 100 }, () => gzipSync(Buffer.alloc(4 * MEBIBYTE, ' '))));

const WRONG_TAGS = call('todo_list_tasks', { tags: Array.from({ length: 1_900_000 }, () => 1) });
const WIDE = call('todo_list_tasks', Object.fromEntries(Array.from({ length: 150_000 }, (_, n) => [`k${n}`, n])));
const ALL_TASKS = { limit: 500, status_filter: 'all' };
const MANY_LISTS = batch(50, 'tools/call', { name: 'coordination_get_all_tasks', arguments: ALL_TASKS });
const MANY_LISTS_PLAIN = batch(50, 'coordination.get_all_tasks', ALL_TASKS);
const INPUT = 'long '.repeat(76_000);
const template = (prompt: string) => ({ name: 'heavy', steps: [{ agent: 'claude', prompt }] });

const HEAVY_INPUT = call('orchestration_orchestrate_workflow', {
  workflow: template('{{input}}'.repeat(2200)),
  input: INPUT,
});

const HEAVY_CONTEXT = call('orchestration_orchestrate_workflow', {
  workflow: template('{{context.k}}'.repeat(1300)),
  input: 'x',
  context: { k: INPUT.slice(0, 200_000) },
});

const DEEP = Buffer.from(`${'{"a":'.repeat(600_000)}1${'}'.repeat(600_000)}`);
const PINGS = batch(50, 'ping', {});

/** Number of concurrent requests whose body never ends, because its last byte is not sent. */
const HELD = 20;

const HELD_BODY = Buffer.alloc(4 * MEBIBYTE - 1, ' ');
const HELD_MS = 1000;
const bearer = (token: string): IncomingHttpHeaders => ({ authorization: `Bearer ${token}` });
const BATCHING = { 'mcp-protocol-version': '2025-03-26' };
let tried = 0;

export const ASSAULTS: Readonly<Record<string, Assault>> = {
  'a bomb of gzip without a credential': ({ url }) => post(url, BOMB, { 'content-encoding': 'gzip' }),
  'a bomb of gzip with one': ({ url, viewer }) => post(url, BOMB, { 'content-encoding': 'gzip', ...bearer(viewer) }),
  'broken gzip': ({ url }) => post(url, BOMB.subarray(20), { 'content-encoding': 'gzip' }),
  'a body without an end': ({ url, viewer }) =>
    post(url, Buffer.alloc(24 * MEBIBYTE, ' '), { 'transfer-encoding': 'chunked', ...bearer(viewer) }),
  'an unauthenticated body without an end': ({ url }) =>
    post(url, Buffer.alloc(24 * MEBIBYTE, ' '), { 'transfer-encoding': 'chunked' }),
  'bodies that are held back': async ({ url, worker }) => {
    await Promise.all(Array.from({ length: HELD }, () => heldBack(url, bearer(worker))));
  },
  'wrong tags': ({ url, viewer }) => post(url, WRONG_TAGS, bearer(viewer)),
  'many names': ({ url, viewer }) => post(url, WIDE, bearer(viewer)),
  'many lists': ({ url, viewer }) => post(url, MANY_LISTS, { ...bearer(viewer), ...BATCHING }),
  'many lists in plain JSON-RPC': ({ url, viewer }) => post(`${url}rpc`, MANY_LISTS_PLAIN, bearer(viewer)),
  'a template of inputs': ({ url, worker }) => post(url, HEAVY_INPUT, bearer(worker)),
  'a template of contexts': ({ url, worker }) => post(url, HEAVY_CONTEXT, bearer(worker)),
  'a deep message': ({ url, viewer }) => post(url, DEEP, bearer(viewer)),
  pings: ({ url, viewer }) => post(url, PINGS, { ...bearer(viewer), ...BATCHING }),
  'the list of tools': ({ url, viewer }) => post(url, message('tools/list', {}), bearer(viewer)),
  'the list of tasks as a resource': ({ url, viewer }) =>
    post(url, message('resources/read', { uri: 'coordination://tasks' }), bearer(viewer)),
  'a guessed credential': ({ url }) => {
    tried += 1;
    const guess = `mk_${'abcdefghijklmnopqrst'}.guess-number-${String(tried).padStart(20, '0')}`;
    return post(url, message('ping', {}), bearer(guess));
  },
};

function message(method: string, params: object): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
}

function call(name: string, args: object): Buffer {
  return message('tools/call', { name, arguments: args });
}

function batch(size: number, method: string, params: object): Buffer {
  const members = Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', id, method, params }));
  return Buffer.from(JSON.stringify(members));
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const connections = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a body, and returns when a response arrives, the request is rejected, or the connection is closed. */
function post(url: string, body: Buffer, headers: IncomingHttpHeaders): Promise<void> {
  return new Promise((resolve) => {
    const options = { method: 'POST', agent: connections, headers: { ...HEADERS, ...headers } };
    const sent = request(url, options, (response) => {
      response.once('close', resolve).resume();
    });
    sent.once('error', () => resolve());
    sent.end(body);
  });
}

/** Sends a body without its last byte, and closes the connection after a while. */
function heldBack(url: string, headers: IncomingHttpHeaders): Promise<void> {
  return new Promise((resolve) => {
    const length = { 'content-length': String(4 * MEBIBYTE) };
    const sent = request(url, { method: 'POST', headers: { ...HEADERS, ...length, ...headers } }, (response) => {
      response.resume();
    });
    sent.once('error', () => undefined).once('close', resolve);
    sent.write(HELD_BODY);
    setTimeout(() => sent.destroy(), HELD_MS);
  });
}
