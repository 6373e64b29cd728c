/** The SDKs' wire protocol, version 5, over a WebSocket (`/.ws?v=5&ns=…`). */
import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import { NOBODY, whoIs } from './auth.ts';
import { Denied, Stale, type Change, type Listener, type Namespace, type Write } from './db.ts';
import type { Who } from './rules.ts';
import { BadData, checkPath, get, hash, runQuery, splitPath, toJSON, type Path, type Query } from './tree.ts';

interface Body { p?: string; d?: unknown; h?: string; q?: Query; t?: number; cred?: string; noauth?: boolean; authvar?: Record<string, unknown> | null }
const under = (p: Path, base: Path): boolean => p.length >= base.length && base.every((k, i) => p[i] === k);

export function serve(sock: WebSocket, db: Namespace, host: string): void {
  let who: Who = NOBODY, need = 0, frames: string[] = [];
  const listens = new Map<string, Listener>();
  let onGone: { path: Path; writes: Write[] }[] = [];
  const send = (t: 'c' | 'd', d: unknown): void => { if (sock.readyState === sock.OPEN) sock.send(JSON.stringify({ t, d })); };
  const push = (a: string, b: object): void => send('d', { a, b });
  const id = (b: Body): string => `${splitPath(b.p ?? '').join('/')}|${b.t ?? ''}`;
  const setWho = (w: Who): void => { who = w; db.recheck(); };
  const writesOf = (a: string, b: Body): Write[] => {
    const base = splitPath(b.p ?? '');
    return a === 'm' || a === 'om'
      ? Object.entries((b.d ?? {}) as object).map(([k, value]) => ({ path: [...base, ...splitPath(k)], value: value as unknown }))
      : [{ path: base, value: b.d }];
  };

  function listen(b: Body): object {
    const path = checkPath(splitPath(b.p ?? '')), p = path.join('/'), q = b.t === undefined ? null : (b.q ?? {});
    const first = db.read(path, who, q);
    let last = q && hash(first);
    const tag = b.t === undefined ? {} : { t: b.t };
    const l: Listener = {
      path, q, who: () => who,
      changed({ paths, after }: Change): void {
        const n = get(after, path);
        if (q) {
          const r = runQuery(n, q), h = hash(r);
          if (h !== last) { last = h; push('d', { p, d: toJSON(r, true), ...tag }); }
        } else if (paths.length === 1 && under(paths[0]!, path)) {
          push('d', { p: paths[0]!.join('/'), d: toJSON(get(after, paths[0]!), true) });
        } else if (paths.every((x) => x.length > path.length && under(x, path))) {
          push('m', { p, d: Object.fromEntries(paths.map((x) => [x.slice(path.length).join('/'), toJSON(get(after, x), true)])) });
        } else push('d', { p, d: toJSON(n, true) });
      },
      revoked(): void { listens.delete(id(b)); push('c', { p, ...(q ? { q: [q] } : {}) }); },
    };
    const old = listens.get(id(b));
    if (old) db.listeners.delete(old);
    listens.set(id(b), l);
    db.listeners.add(l);
    push('d', { p, d: toJSON(first, true), ...tag });
    return q && !db.rules.isIndexed(path, q) ? { w: ['no_index'] } : {};
  }

  function handle(a: string, b: Body): unknown {
    switch (a) {
      case 'q': case 'l': return listen(b);
      case 'n': case 'u': { const l = listens.get(id(b)); if (l) { listens.delete(id(b)); db.listeners.delete(l); } return ''; }
      case 'g': return toJSON(db.read(checkPath(splitPath(b.p ?? '')), who, b.q && Object.keys(b.q).length ? b.q : null), true);
      case 'p': case 'm': db.write(writesOf(a, b), who, b.h === undefined ? {} : { expect: b.h }); return '';
      case 'auth': case 'gauth': {
        const w = whoIs(b.cred);
        if (!w) throw Object.assign(new Error('Invalid or expired auth token.'), { code: 'invalid_token' });
        setWho(b.noauth ? NOBODY : b.authvar !== undefined && w.admin ? { admin: false, auth: b.authvar } : w);
        return { auth: who.auth };
      }
      case 'unauth': setWho(NOBODY); return '';
      case 'o': case 'om': { const w = writesOf(a === 'o' ? 'p' : a, b); db.write(w, who, { dry: true }); onGone.push({ path: splitPath(b.p ?? ''), writes: w }); return ''; }
      case 'oc': { const p = splitPath(b.p ?? ''); onGone = onGone.filter((x) => !under(x.path, p)); return ''; }
      case 's': case 'appcheck': case 'unappeck': return '';
      default: throw Object.assign(new Error(`Unknown action ${a}`), { code: 'invalid_request' });
    }
  }

  sock.on('message', (raw) => {
    const text = String(raw);
    if (!need && /^\d{1,6}$/.test(text)) { need = Number(text); frames = []; return; } // "0" is the keep-alive
    if (need) { frames.push(text); if (frames.length < need) return; }
    let msg: { t: string; d: { r?: number; a?: string; b?: Body; t?: string } };
    try { msg = JSON.parse(need ? frames.join('') : text) as typeof msg; } catch { sock.close(); return; } finally { need = 0; }
    if (msg.t === 'c') { if (msg.d.t === 'p') send('c', { t: 'o', d: null }); return; }
    const { r, a = '', b = {} } = msg.d;
    try { const d = handle(a, b); send('d', { r, b: { s: 'ok', d } }); }
    catch (e) {
      const s = e instanceof Denied ? 'permission_denied' : e instanceof Stale ? 'datastale' : e instanceof BadData ? 'invalid_data' : (e as { code?: string }).code ?? 'internal_server_error';
      if (s === 'internal_server_error') console.error(e);
      send('d', { r, b: { s, d: (e as Error).message } });
    }
  });
  sock.on('close', () => {
    for (const l of listens.values()) db.listeners.delete(l);
    for (const { writes } of onGone) { try { db.write(writes, who); } catch { /* denied by now */ } }
    onGone = [];
  });
  send('c', { t: 'h', d: { ts: Date.now(), v: '5', h: host, s: randomBytes(16).toString('hex') } });
}
