/** One namespace: data, rules, listeners, commits, function triggers. */
import { randomBytes } from 'node:crypto';
import { Ruleset, type Who } from './rules.ts';
import { checkPath, delta, fromJSON, get, hash, runQuery, set, setPriority, toJSON, type Node, type Path, type Query } from './tree.ts';

export const OPEN = '{"rules":{".read":true,".write":true}}';
export interface Write { path: Path; value: unknown }
export interface Change { paths: Path[]; before: Node; after: Node }
export interface Listener { path: Path; q: Query | null; who(): Who; changed(c: Change): void; revoked(): void }
export class Denied extends Error { constructor() { super('Permission denied'); } }
export class Stale extends Error {}
export interface Trigger { key: string; project: string; path: string[]; event: string; v2: boolean; ns: RegExp }
export interface FunctionsHost { url: string | null; triggers: Map<string, Trigger> }

export class Namespace {
  root: Node = null;
  rules = new Ruleset(OPEN);
  readonly listeners = new Set<Listener>();
  readonly name: string;
  private readonly fns: FunctionsHost;
  constructor(name: string, fns: FunctionsHost) { this.name = name; this.fns = fns; }

  read(path: Path, who: Who, q: Query | null = null): Node {
    if (!this.rules.canRead(this.root, path, who, q ?? {})) throw new Denied();
    return this.peek(path, q);
  }
  peek(path: Path, q: Query | null): Node {
    const n = get(this.root, path);
    return q ? runQuery(n, q) : n;
  }

  /** Applies all the writes or none. `expect` is a transaction's hash of the value it saw. */
  write(writes: Write[], who: Who, opts: { expect?: string; dry?: boolean; triggers?: boolean } = {}): void {
    const now = Date.now(), before = this.root;
    let after = before, stale = false;
    const paths = writes.map(({ path, value }) => {
      const prio = path[path.length - 1] === '.priority', at = checkPath(prio ? path.slice(0, -1) : path);
      if (opts.expect !== undefined && hash(get(before, at)) !== opts.expect) stale = true;
      after = prio ? setPriority(after, at, (fromJSON(value, null, now)?.v as string | number) ?? null)
        : set(after, at, fromJSON(value, get(before, at), now));
      return at;
    });
    // A transaction on an old value: who may read gets the value and tries again; who may not learns only "denied".
    if (stale && paths.every((p) => this.rules.canRead(before, p, who))) throw new Stale();
    for (const p of paths) if (!this.rules.canWrite(before, after, p, who, now)) throw new Denied();
    if (stale) throw new Stale();
    if (opts.dry) return;
    this.root = after;
    this.recheck();
    for (const l of [...this.listeners]) {
      if (get(before, l.path) !== get(after, l.path)) l.changed({ paths, before, after });
    }
    if (opts.triggers !== false) this.fire(before, after, who);
  }

  /** Cancels the listeners that the rules no longer allow. */
  recheck(): void {
    for (const l of [...this.listeners]) {
      if (!this.rules.canRead(this.root, l.path, l.who(), l.q ?? {})) { this.listeners.delete(l); l.revoked(); }
    }
  }

  private fire(before: Node, after: Node, who: Who): void {
    if (!this.fns.url) return;
    for (const t of this.fns.triggers.values()) if (t.ns.test(this.name)) this.match(t, 0, [], before, after, who);
  }
  private match(t: Trigger, i: number, at: string[], a: Node, b: Node, who: Who): void {
    if (a === b) return; // untouched subtrees are shared between versions
    const seg = t.path[i];
    if (seg === undefined) {
      if (hash(a) === hash(b)) return;
      const kind = !a ? 'create' : !b ? 'delete' : 'update';
      const want = t.event.replace(/^.*\.(create|update|delete|writ)\w*$/, '$1');
      if (want === 'writ' || want === kind) void this.post(t, at, a, b, who);
    } else if (/^\{.*\}$/.test(seg)) {
      for (const k of new Set([...(a?.c?.keys() ?? []), ...(b?.c?.keys() ?? [])])) {
        this.match(t, i + 1, [...at, k], a?.c?.get(k) ?? null, b?.c?.get(k) ?? null, who);
      }
    } else this.match(t, i + 1, [...at, seg], a?.c?.get(seg) ?? null, b?.c?.get(seg) ?? null, who);
  }
  private async post(t: Trigger, at: string[], a: Node, b: Node, who: Who): Promise<void> {
    const ref = at.join('/'), id = randomBytes(12).toString('base64url'), time = new Date().toISOString();
    const data = { data: toJSON(a), delta: delta(a, b) };
    const params: Record<string, string> = {};
    t.path.forEach((s, i) => { const m = /^\{(\w+)/.exec(s); if (m) params[m[1]!] = at[i]!; });
    const uid = who.auth && 'uid' in who.auth ? String(who.auth.uid) : undefined;
    const body = t.v2
      ? { specversion: '1.0', id, time, type: t.event, datacontenttype: 'application/json',
          source: `//firebasedatabase.googleapis.com/projects/_/locations/us-central1/instances/${this.name}`,
          subject: `refs/${ref}`, instance: this.name, ref, location: 'us-central1', firebasedatabasehost: 'firebaseio.com',
          authtype: who.admin ? 'admin' : uid ? 'app_user' : 'unauthenticated', ...(uid ? { authid: uid } : {}),
          data: { '@type': 'type.googleapis.com/google.events.firebase.database.v1.ReferenceEventData', ...data } }
      : { data, context: { eventId: id, timestamp: time, eventType: t.event, params, resource: `projects/_/instances/${this.name}/refs/${ref}`,
          domain: 'firebaseio.com', auth: who.admin ? { admin: true } : { admin: false, ...(who.auth ? { variable: who.auth } : {}) } } };
    try {
      const r = await fetch(`${this.fns.url}/functions/projects/${t.project}/triggers/${t.key}`, {
        method: 'POST', body: JSON.stringify(body),
        headers: { 'content-type': t.v2 ? 'application/cloudevents+json; charset=utf-8' : 'application/json' },
      });
      if (!r.ok && r.status !== 204) console.error(`trigger ${t.key}: HTTP ${r.status} ${(await r.text()).slice(0, 300)}`);
    } catch (e) { console.error(`trigger ${t.key}: ${String(e)}`); }
  }
}
