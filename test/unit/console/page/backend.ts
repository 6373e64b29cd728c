/** Replaces the databases and tools that the console uses by data in memory. */
import type { Comparison, DocumentQuery, DocumentsQuery, NodeQuery } from '../../../../console/src/live/query.ts';
import { type StoredDocuments, storedVersions, withTimes } from '../../../stored/documents.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Hearing {
  next(value: unknown, isFresh?: boolean): void;
  error(error: Error): void;
}

interface Listening {
  readonly asked: DocumentQuery | DocumentsQuery | NodeQuery;
  readonly hearing: Hearing;
}

export interface Called {
  readonly method: string;
  readonly params: Fields;
  readonly isChange: boolean;
}

/** Error with which a tool refuses a call. */
export class Refused extends Error {
  readonly code: string;

  constructor(message: string, code = 'INVALID') {
    super(message);
    this.code = code;
  }
}

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: Fields;
}

type Tool = (params: Fields) => unknown;

/** Responses of the tools that most pages call. */
const USUAL: Readonly<Record<string, Tool>> = {
  'access.list_members': () => ({ access: 'private', members: [] }),
  'access.whoami': () => ({ workspaces: [{ workspace: 'default', role: 'leader' }], truncated: false, accepted: [] }),
  'system.getAudit': () => ({ events: [] }),
  'system.getTree': ({ kind, id }) => ({ node: { kind, id }, path: [], parts: [], budgets: [] }),
};

const DATABASE = 'http://database.example';

/** Method under which a write to the Realtime Database is listed. */
export const REALTIME_WRITE = 'PUT';

const DEPLOYMENT: Readonly<Record<'endpoint' | 'address', string>> & { firebase: object; readonly pushKey?: string } = {
  firebase: { databaseURL: DATABASE },
  endpoint: 'http://hub.example/mcp',
  address: 'http://hub.example/mcp',
};

const CONNECTION = '.info/connected';

export class Backend {
  readonly person = { uid: 'ada', name: 'Ada Person', email: 'ada@example.org' };
  connection = { app: {}, deployment: DEPLOYMENT };
  hasLeft = false;
  /** Number of times that the page got a new token. */
  renewals = 0;
  /** Calls of tools. */
  readonly calls: Called[] = [];
  /** Path of every subscription that was opened. A path that was opened twice is listed twice. */
  readonly opened: string[] = [];
  readonly denied = new Set<string>();
  readonly tools: Record<string, Tool> = { ...USUAL };
  isReachable = true;
  private isConnected = true;
  private readonly stored = new Map<string, Fields>();
  private readonly listening = new Set<Listening>();
  private readonly held = new Map<string, Promise<void>>();

  /** The person is an admin, and the workspace has a goal. */
  constructor() {
    this.put('people/ada', { role: 'admin' });
    this.put('workspaces/default', { session: 'session-1' });
    this.put('workspaces/default/sessions/session-1');
  }

  /** Number of subscriptions that are open now. */
  get heard(): number {
    return this.listening.size;
  }

  /** Stores a document that consists of the collection's sample document and these changes. */
  put(path: string, more: Fields = {}): void {
    const id = path.split('/').at(-1) ?? '';
    const before = this.stored.get(path) ?? { ...sampleOf(path), id };
    this.stored.set(path, { ...before, ...more });
    this.tell(path);
  }

  remove(path: string): void {
    this.stored.delete(path);
    this.tell(path);
  }

  document(path: string): Fields | undefined {
    return structuredClone(this.stored.get(path));
  }

  /** Whether the page is connected to the databases. */
  connect(isConnected: boolean): void {
    this.isConnected = isConnected;
    this.tell(CONNECTION);
  }

  putNode(path: string, value: Fields): void {
    this.stored.set(path, value);
    this.tell(path);
  }

  /** Holds back the responses of a tool, and returns a function that releases them. */
  hold(method: string): () => void {
    let release = (): void => undefined;
    this.held.set(method, new Promise<void>((resolve) => (release = resolve)));
    return release;
  }

  /** Calls that change data. They have an idempotency key. */
  get changes(): readonly Called[] {
    return this.calls.filter(({ isChange }) => isChange);
  }

  called(method: string): readonly Fields[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }

  // Modules that replace live/firestore.ts, live/realtime.ts and session/session.ts in the page.

  watchDocuments = (asked: DocumentsQuery, hearing: Hearing) => this.listen({ asked, hearing });
  watchDocument = (asked: DocumentQuery, hearing: Hearing) => this.listen({ asked, hearing });
  watchNode = (asked: NodeQuery, hearing: Hearing) => this.listen({ asked, hearing });
  readDocuments = async (asked: DocumentsQuery) => this.found(asked).slice(0, asked.limit);
  countDocuments = async (asked: DocumentsQuery) => this.found(asked).length;
  writeDocument = async ({ document }: DocumentQuery, data: Fields) => {
    this.stored.set(document, data);
    this.tell(document);
  };

  leave = async () => {
    this.hasLeft = true;
  };
  renewToken = async () => {
    this.renewals++;
  };

  fetch = async (url: string | URL, { body }: { readonly body: string }) => {
    if (!this.isReachable) throw new TypeError('fetch failed');
    const asked: unknown = JSON.parse(body);
    const { origin, pathname } = new URL(url);
    if (origin === DATABASE) {
      this.calls.push({ method: REALTIME_WRITE, params: { path: pathname, data: asked }, isChange: true });
      await this.held.get(REALTIME_WRITE);
      return { ok: true, status: 200, json: async (): Promise<unknown> => asked };
    }
    const answers = [];
    for (const one of Array.isArray(asked) ? asked : [asked]) answers.push(await this.answer(one));
    const text = JSON.stringify(Array.isArray(asked) ? answers : answers[0]);
    return { ok: true, status: 200, json: async (): Promise<unknown> => JSON.parse(text) };
  };

  private async answer({ id, method, params }: Asked): Promise<object> {
    const { idempotency_key: key, ...args } = params;
    this.calls.push({ method, params: args, isChange: key !== undefined });
    await this.held.get(method);
    try {
      const result = this.tools[method]?.(args) ?? {};
      return { jsonrpc: '2.0', id, result };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { jsonrpc: '2.0', id, error: { code: -32000, message: error.message, data: { code: error.code } } };
    }
  }

  private listen(one: Listening): () => void {
    this.opened.push(JSON.stringify(one.asked));
    this.listening.add(one);
    queueMicrotask(() => this.tellOne(one));
    return () => this.listening.delete(one);
  }

  private tell(path: string): void {
    const collection = path.slice(0, path.lastIndexOf('/'));
    for (const one of this.listening) {
      const { asked } = one;
      const place = 'node' in asked ? asked.node : 'document' in asked ? asked.document : asked.collection;
      if (place === path || ('collection' in asked && place === collection)) this.tellOne(one);
    }
  }

  private tellOne(one: Listening): void {
    const { asked, hearing } = one;
    if (!this.listening.has(one)) return;
    if ('node' in asked) {
      hearing.next(asked.node === CONNECTION ? this.isConnected : (this.stored.get(asked.node) ?? null));
    } else if (this.denied.has(collectionOf(asked))) {
      // A subscription that was refused receives nothing more, as in Firestore.
      this.listening.delete(one);
      hearing.error(new Error('permission-denied'));
    } else if ('collection' in asked) {
      hearing.next(this.found(asked).slice(0, asked.limit), true);
    } else {
      const data = this.stored.get(asked.document);
      hearing.next(data && { id: asked.document.split('/').at(-1), data: withTimes(data) }, true);
    }
  }

  private found({
    collection,
    where,
    orderBy,
  }: DocumentsQuery): readonly { readonly id: string; readonly data: Fields }[] {
    return [...this.stored]
      .filter(([path]) => path.slice(0, path.lastIndexOf('/')) === collection)
      .map(([path, data]) => ({ id: path.slice(collection.length + 1), data }))
      .filter(({ data }) => where.every(([field, how, value]) => holds(fieldOf(data, field), how, value)))
      .sort((one, other) => {
        for (const [field, direction] of orderBy) {
          const order = Number(fieldOf(one.data, field)) - Number(fieldOf(other.data, field));
          if (order !== 0) return direction === 'asc' ? order : -order;
        }
        return 0;
      })
      .map(({ id, data }) => ({ id, data: withTimes(data) }));
  }
}

/** Returns the first collection of a path, such as `tasks` for `tasks/task-1/logs`. */
function collectionOf(asked: DocumentQuery | DocumentsQuery): string {
  const place = 'document' in asked ? asked.document : asked.collection;
  return place.split('/')[0] ?? '';
}

function fieldOf(data: unknown, path: string): unknown {
  return path.split('.').reduce((inner: unknown, name) => Object(inner)[name], data);
}

/** Compares values of the same type only, as Firestore does. Arrays are compared only by length. */
function holds(stored: unknown, how: Comparison, value: unknown): boolean {
  if (how === '==') return stored === value;
  if (how === 'in') return Array.isArray(value) && value.includes(stored);
  if (stored === null || typeof stored !== typeof value) return false;
  if (Array.isArray(stored) && Array.isArray(value)) return how === '>' && stored.length > value.length;
  if (typeof stored === 'string') return how === '>' ? stored > String(value) : stored < String(value);
  return how === '>' ? Number(stored) > Number(value) : Number(stored) < Number(value);
}

/** Returns the newest sample document of the collection to which a document belongs. */
function sampleOf(path: string): Fields {
  const collection = path
    .split('/')
    .filter((_, index) => index % 2 === 0)
    .join('.');
  const samples: StoredDocuments = storedVersions('firestore', collection).at(-1)?.documents ?? {};
  return Object(withDates(samples['plain'] ?? Object.values(samples)[0]));
}

function withDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDates);
  if (typeof value !== 'object' || value === null) return value;
  if ('$time' in value) return new Date(String(value.$time));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withDates(inner)]));
}
