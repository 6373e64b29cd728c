/** Serves one client with the SDKs' wire protocol, version 5, over a WebSocket (`/.ws?v=5&ns=…`). */
import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import { actingAs, anonymous, type Caller, callerOf } from '../caller.ts';
import { Denied, type Listener, type Namespace, Stale, type Write } from '../namespace.ts';
import { isRecord, toJson } from '../tree/json.ts';
import { BadData, checkedPath, isUnder, type Path, splitPath } from '../tree/node.ts';
import { Frames } from './frames.ts';
import { listenerFor, type Push } from './listening.ts';
import { type Body, type Request, readMessage } from './messages.ts';

/** Error that is reported to the client with a status of the protocol. */
class ProtocolError extends Error {
  readonly status: string;

  constructor(status: string, message: string) {
    super(message);
    this.status = status;
  }
}

export class Connection {
  readonly #socket: WebSocket;
  readonly #namespace: Namespace;
  readonly #frames = new Frames();
  readonly #listeners = new Map<string, Listener>();
  #caller: Caller = anonymous;
  #onDisconnect: { path: Path; writes: Write[] }[] = [];

  /** Sends the first message of the connection, as the protocol requires. */
  constructor(socket: WebSocket, namespace: Namespace, host: string) {
    this.#socket = socket;
    this.#namespace = namespace;
    socket.on('message', (frame) => this.#receive(String(frame)));
    socket.on('close', () => this.#close());
    const session = randomBytes(16).toString('hex');
    this.#send('c', { t: 'h', d: { ts: Date.now(), v: '5', h: host, s: session } });
  }

  #send(type: 'c' | 'd', data: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify({ t: type, d: data }));
  }

  readonly #push: Push = (action, body) => this.#send('d', { a: action, b: body });

  #receive(frame: string): void {
    const text = this.#frames.add(frame);
    if (text === undefined) return;
    const message = readMessage(text);
    if (!message) this.#socket.close();
    else if (message.kind === 'ping') this.#send('c', { t: 'o', d: null });
    else if (message.kind === 'request') this.#send('d', { r: message.request.id, b: this.#answer(message.request) });
  }

  #answer(request: Request): object {
    try {
      return { s: 'ok', d: this.#perform(request.action, request.body) };
    } catch (error) {
      const status = statusOf(error);
      if (status === 'internal_server_error') console.error(error);
      return { s: status, d: error instanceof Error ? error.message : String(error) };
    }
  }

  #perform(action: string, body: Body): unknown {
    switch (action) {
      case 'q':
      case 'l':
        return this.#listen(body);
      case 'n':
      case 'u':
        return this.#unlisten(listenerId(body));
      case 'g':
        return toJson(this.#namespace.read(checkedPath(body.path), this.#caller, nonEmpty(body.query)), true);
      case 'p':
        return this.#write([{ path: body.path, value: body.data }], body);
      case 'm':
        return this.#write(childrenOf(body), body);
      case 'auth':
      case 'gauth':
        return this.#authenticate(body);
      case 'unauth':
        return this.#become(anonymous);
      case 'o':
        return this.#writeOnDisconnect(body.path, [{ path: body.path, value: body.data }]);
      case 'om':
        return this.#writeOnDisconnect(body.path, childrenOf(body));
      case 'oc':
        return this.#cancelOnDisconnect(body.path);
      case 's':
      case 'appcheck':
      case 'unappeck':
        return ''; // Accepts and ignores statistics and App Check.
      default:
        throw new ProtocolError('invalid_request', `Unknown action ${action}`);
    }
  }

  /** The client must receive the data before the acknowledgement. */
  #listen(body: Body): object {
    const path = checkedPath(body.path);
    const query = body.tag === undefined ? null : (body.query ?? {});
    const first = this.#namespace.read(path, this.#caller, query);
    const id = listenerId(body);
    this.#unlisten(id);
    const listener = listenerFor({
      path,
      query,
      tag: body.tag,
      first,
      push: this.#push,
      caller: () => this.#caller,
      gone: () => this.#listeners.delete(id),
    });
    this.#listeners.set(id, listener);
    this.#namespace.listeners.add(listener);
    this.#push('d', { p: path.join('/'), d: toJson(first, true), ...(body.tag !== undefined && { t: body.tag }) });
    return query && !this.#namespace.rules.isIndexed(path, query) ? { w: ['no_index'] } : {};
  }

  #unlisten(id: string): string {
    const listener = this.#listeners.get(id);
    if (listener) this.#namespace.listeners.delete(listener);
    this.#listeners.delete(id);
    return '';
  }

  #write(writes: Write[], body: Body): string {
    this.#namespace.write(writes, this.#caller, { expected: body.hash });
    return '';
  }

  #authenticate(body: Body): object {
    const caller = callerOf(body.credential);
    if (!caller) throw new ProtocolError('invalid_token', 'Invalid or expired auth token.');
    const mayChoose = body.authOverride !== undefined && caller.isOwner;
    const chosen = mayChoose ? actingAs(body.authOverride ?? null) : caller;
    this.#become(body.isAnonymous ? anonymous : chosen);
    return { auth: this.#caller.auth };
  }

  #become(caller: Caller): string {
    this.#caller = caller;
    this.#namespace.revokeForbidden();
    return '';
  }

  #writeOnDisconnect(path: Path, writes: Write[]): string {
    this.#namespace.write(writes, this.#caller, { dry: true });
    this.#onDisconnect.push({ path, writes });
    return '';
  }

  #cancelOnDisconnect(path: Path): string {
    this.#onDisconnect = this.#onDisconnect.filter((one) => !isUnder(one.path, path));
    return '';
  }

  #close(): void {
    for (const listener of this.#listeners.values()) this.#namespace.listeners.delete(listener);
    for (const { writes } of this.#onDisconnect.splice(0)) {
      try {
        this.#namespace.write(writes, this.#caller);
      } catch {
        // The rules allowed the write when it was requested, but deny it now.
      }
    }
  }
}

function listenerId({ path, tag }: Body): string {
  return `${path.join('/')}|${tag ?? ''}`;
}

function nonEmpty(query: Body['query']): Body['query'] | null {
  return query && Object.keys(query).length > 0 ? query : null;
}

/** Returns the writes of a merge, one for each child. The keys of a merge can be paths. */
function childrenOf({ path, data }: Body): Write[] {
  const entries = Object.entries(isRecord(data) ? data : {});
  return entries.map(([key, value]) => ({ path: [...path, ...splitPath(key)], value }));
}

function statusOf(error: unknown): string {
  if (error instanceof Denied) return 'permission_denied';
  if (error instanceof Stale) return 'datastale';
  if (error instanceof BadData) return 'invalid_data';
  return error instanceof ProtocolError ? error.status : 'internal_server_error';
}
