/** The REST API, with the emulator's own endpoints (rules, function triggers, list of databases). */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { whoIs } from './auth.ts';
import { Denied, type FunctionsHost, type Namespace } from './db.ts';
import { Ruleset, RulesError } from './rules.ts';
import { BadData, checkPath, hash, splitPath, toJSON, type Query } from './tree.ts';

class Http extends Error { readonly status: number; constructor(status: number, message: string) { super(message); this.status = status; } }
export interface Store { ns(name: string): Namespace; all(): Iterable<Namespace>; fns: FunctionsHost }

const CHARS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
let lastPush = 0, rand: number[] = [];
function pushId(now = Date.now()): string {
  if (now !== lastPush) rand = Array.from(randomBytes(12), (x) => x & 63);
  else for (let i = 11; i >= 0; i--) { if (rand[i] !== 63) { rand[i]!++; break; } rand[i] = 0; }
  lastPush = now;
  let t = '';
  for (let i = 0, n = now; i < 8; i++, n = Math.floor(n / 64)) t = CHARS[n % 64] + t;
  return t + rand.map((x) => CHARS[x]).join('');
}
function json(text: string): unknown {
  try { return JSON.parse(text) as unknown; } catch { throw new Http(400, "Invalid data; couldn't parse JSON object, array, or value."); }
}
function queryOf(u: URLSearchParams): Query | null {
  const names = ['startAt', 'startAfter', 'endAt', 'endBefore', 'equalTo', 'limitToFirst', 'limitToLast'];
  const order = u.get('orderBy');
  if (order === null) {
    if (u.get('shallow') !== 'true' && names.some((n) => u.has(n))) throw new Http(400, 'orderBy must be defined when other query parameters are defined');
    return null;
  }
  const q: Query = {};
  const arg = (n: string): [unknown, string?] => {
    try { const [v, k] = JSON.parse(`[${u.get(n)}]`) as [unknown, string?]; return [v, k]; } catch { throw new Http(400, `Constraint index field must be a JSON primitive`); }
  };
  const by = arg('orderBy')[0];
  if (typeof by !== 'string') throw new Http(400, 'orderBy must be a valid JSON encoded path');
  if (by !== '$priority') q.i = by === '$key' ? '.key' : by === '$value' ? '.value' : by;
  const start = (n: string, inc: boolean): void => { if (u.has(n)) { const [v, k] = arg(n); q.sp = v; q.sin = inc; if (k !== undefined) q.sn = k; else if (!inc) q.sn = '[MAX_NAME]'; } };
  const end = (n: string, inc: boolean): void => { if (u.has(n)) { const [v, k] = arg(n); q.ep = v; q.ein = inc; if (k !== undefined) q.en = k; else if (!inc) q.en = '[MIN_NAME]'; } };
  start('startAt', true); start('startAfter', false); end('endAt', true); end('endBefore', false);
  if (u.has('equalTo')) { start('equalTo', true); end('equalTo', true); }
  for (const [n, vf] of [['limitToFirst', 'l'], ['limitToLast', 'r']] as const) {
    if (!u.has(n)) continue;
    const l = Number(u.get(n));
    if (!Number.isInteger(l) || l <= 0) throw new Http(400, `${n} must be a positive integer`);
    q.l = l; q.vf = vf;
  }
  return q;
}

export async function handle(req: IncomingMessage, res: ServerResponse, store: Store): Promise<void> {
  const u = new URL(req.url ?? '/', 'http://x'), method = String(req.headers['x-http-method-override'] ?? req.method).toUpperCase();
  const reply = (status: number, body: unknown, extra: Record<string, string> = {}, raw = false): void => {
    const pretty = u.searchParams.get('print') === 'pretty';
    res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache', 'access-control-allow-origin': '*', ...extra });
    res.end(status === 204 ? undefined : raw ? body : JSON.stringify(body, null, pretty ? 2 : undefined));
  };
  try {
    if (method === 'OPTIONS') { reply(204, null, { 'access-control-allow-methods': 'GET,PUT,POST,PATCH,DELETE', 'access-control-allow-headers': String(req.headers['access-control-request-headers'] ?? '*') }); return; }
    const chunks: Buffer[] = [];
    for await (const c of req) chunks.push(c as Buffer);
    const text = Buffer.concat(chunks).toString();
    const bearer = /^Bearer (.+)$/i.exec(req.headers.authorization ?? '')?.[1];
    const who = whoIs(u.searchParams.get('auth') ?? u.searchParams.get('access_token') ?? bearer);
    if (!who) throw new Http(401, 'Could not parse auth token.');
    const pathname = decodeURIComponent(u.pathname);
    const host = (req.headers.host ?? '').split('.');
    const name = u.searchParams.get('ns') ?? (host.length > 1 && !/^\d+$/.test(host[0]!) ? host[0]! : 'fake-server');
    if (/^\/\.(settings|inspect)\//.test(pathname)) {
      if (!who.admin) throw new Denied();
      if (/^\/\.settings\/rules(\.json)?$/.test(pathname)) {
        const ns = store.ns(name);
        if (method === 'GET') { // `format=strict`: without the comments
          if (u.searchParams.get('format') === 'strict') reply(200, ns.rules.json); else reply(200, ns.rules.source, {}, true);
          return;
        }
        ns.rules = new Ruleset(text); ns.recheck();
        reply(200, { status: 'ok' }); return;
      }
      if (/^\/\.settings\/functionTriggers(\.json)?$/.test(pathname)) {
        if (method === 'GET') { reply(200, [...store.fns.triggers.values()].map((t) => ({ ...t, ns: t.ns.source }))); return; }
        const t = json(text) as { name: string; path: string; event: string; namespacePattern?: string };
        const [, project = '', , , , key = ''] = t.name.split('/');
        const pattern = t.namespacePattern ?? name;
        // A reload registers the function again with a new generation at the end of its key: it replaces the old one.
        store.fns.triggers.set(`${key.replace(/-\d+$/, '')}|${t.event}`, {
          key, project, path: splitPath(t.path), event: t.event, v2: t.namespacePattern !== undefined,
          ns: new RegExp(`^${pattern.replace(/[.+^$()|\\[\]]/g, '\\$&').replace(/\{[^}]*\}|\*+/g, '[^/]*')}$`),
        });
        reply(200, { status: 'ok' }); return;
      }
      if (pathname === '/.inspect/databases.json') { reply(200, [...store.all()].map((n) => ({ name: n.name, rules: n.rules.source }))); return; }
      throw new Http(404, 'Not found');
    }
    if (!pathname.endsWith('.json')) throw new Http(404, 'append .json to your request URI to use the REST API.');
    const path = checkPath(splitPath(pathname.slice(0, -5))), db = store.ns(name);
    const triggers = u.searchParams.get('disableTriggers') !== 'true';
    const etag = (): string => createHash('sha1').update(hash(db.peek(path, null)) || 'null').digest('base64');
    const match = req.headers['if-match'];
    if (match !== undefined && match !== etag()) { reply(412, toJSON(db.read(path, who)), { etag: etag() }); return; }
    const done = (body: unknown): void => reply(u.searchParams.get('print') === 'silent' ? 204 : 200, body, req.headers['x-firebase-etag'] === 'true' ? { etag: etag() } : {});
    switch (method) {
      case 'GET': {
        const q = queryOf(u.searchParams), n = db.read(path, who, q);
        if (q && !db.rules.isIndexed(path, q)) throw new Http(400, `Index not defined, add ".indexOn": "${q.i}", for path "/${path.join('/')}", to the rules`);
        if (u.searchParams.get('shallow') === 'true') { done(n?.c ? Object.fromEntries([...n.c.keys()].map((k) => [k, true])) : toJSON(n)); return; }
        done(toJSON(n, u.searchParams.get('format') === 'export')); return;
      }
      case 'PUT': db.write([{ path, value: json(text) }], who, { triggers }); done(json(text)); return;
      case 'PATCH': {
        const d = json(text);
        if (!d || typeof d !== 'object' || Array.isArray(d)) throw new Http(400, 'Invalid data; expected a JSON object');
        db.write(Object.entries(d).map(([k, value]) => ({ path: [...path, ...splitPath(k)], value: value as unknown })), who, { triggers });
        done(d); return;
      }
      case 'POST': { const id = pushId(); db.write([{ path: [...path, id], value: json(text) }], who, { triggers }); done({ name: id }); return; }
      case 'DELETE': db.write([{ path, value: null }], who, { triggers }); done(null); return;
      default: throw new Http(405, 'Method not allowed');
    }
  } catch (e) {
    const status = e instanceof Http ? e.status : e instanceof Denied ? 401 : e instanceof BadData || e instanceof RulesError ? 400 : 500;
    if (status === 500) console.error(e);
    reply(status, { error: (e as Error).message });
  }
}
