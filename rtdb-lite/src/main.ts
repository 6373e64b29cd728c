#!/usr/bin/env node
/** rtdb-lite --port 9000 [--host 127.0.0.1] [--functions_emulator_host H --functions_emulator_port P] — the flags firebase-tools passes. */
import { createServer, type Server } from 'node:http';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { Namespace, type FunctionsHost } from './db.ts';
import { handle, type Store } from './rest.ts';
import { serve } from './ws.ts';

export interface Options { host?: string; port?: number; functionsUrl?: string | null }
export interface Running { port: number; store: Store; close(): Promise<void> }

export async function start(o: Options = {}): Promise<Running> {
  const fns: FunctionsHost = { url: o.functionsUrl ?? null, triggers: new Map() };
  const spaces = new Map<string, Namespace>();
  const store: Store = {
    fns, all: () => spaces.values(),
    ns(name) { let n = spaces.get(name); if (!n) spaces.set(name, (n = new Namespace(name, fns))); return n; },
  };
  const http: Server = createServer((req, res) => void handle(req, res, store));
  const wss = new WebSocketServer({ server: http, path: '/.ws', maxPayload: 1 << 28 });
  wss.on('connection', (sock, req) => {
    const u = new URL(req.url ?? '/', 'http://x');
    serve(sock, store.ns(u.searchParams.get('ns') ?? 'fake-server'), req.headers.host ?? 'localhost');
  });
  await new Promise<void>((ok, bad) => { http.once('error', bad); http.listen(o.port ?? 0, o.host ?? '127.0.0.1', ok); });
  const a = http.address();
  return {
    port: a && typeof a === 'object' ? a.port : 0, store,
    close: () => new Promise((ok) => { for (const c of wss.clients) c.terminate(); wss.close(); http.closeAllConnections(); http.close(() => ok()); }),
  };
}

if (import.meta.main ?? process.argv[1] === fileURLToPath(import.meta.url)) {
  const s = { type: 'string' } as const;
  const { values: v } = parseArgs({ strict: false, options: { host: s, port: s, functions_emulator_host: s, functions_emulator_port: s, single_project_mode: s } });
  const fh = v.functions_emulator_host as string | undefined, fp = v.functions_emulator_port as string | undefined;
  start({ host: v.host as string | undefined, port: Number(v.port ?? 9000), functionsUrl: fp ? `http://${fh ?? '127.0.0.1'}:${fp}` : null }).then((r) => {
    console.log(`rtdb-lite listening on ${String(v.host ?? '127.0.0.1')}:${r.port}`);
    const stop = (): void => void r.close().then(() => process.exit(0));
    process.on('SIGINT', stop); process.on('SIGTERM', stop);
  }, (e: unknown) => { console.error(String(e)); process.exit(1); });
}
