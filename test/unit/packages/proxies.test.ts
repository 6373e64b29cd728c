/** Use of a proxy by the command `muster` and by the plugin, with a hub that only the proxy can reach. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { selfSigned } from '../../support/certificate.ts';
import { close, listen, portOf } from '../../support/listening.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;
const HUB = 'https://hub.invalid/mcp';

describe('environment with a proxy', () => {
  let folder: string;
  let hub: NetServer;
  let proxy: Server;
  let sockets: Set<Socket>;
  /** Hosts to which a client has asked the proxy to connect. */
  let asked: string[];
  /** Methods that clients have called on the hub. */
  let called: string[];

  const listening = (server: NetServer) => listen(server.on('connection', (socket: Socket) => sockets.add(socket)));

  beforeEach(async () => {
    folder = mkdtempSync(`${tmpdir()}/muster-proxy-`);
    [sockets, asked, called] = [new Set(), [], []];
    const certificate = selfSigned('hub.invalid');
    writeFileSync(`${folder}/ca.pem`, certificate.cert);
    hub = createSecureServer({ ...certificate }, async (request, response) => {
      const body: unknown = JSON.parse(await text(request));
      for (const { method } of [body].flat() as { method: string }[]) called.push(method);
      response.writeHead(Array.isArray(body) ? 401 : 200, { 'Content-Type': 'application/json' });
      const result = { requests: [{ question: 'Ship it?' }] };
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result, error: { message: 'Who are you?' } }));
    });
    proxy = createServer();
    proxy.on('connect', (request, socket: Socket) => {
      asked.push(request.url ?? '');
      const tunnel = connect(portOf(hub), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        tunnel.pipe(socket).pipe(tunnel);
      });
      for (const one of [tunnel, socket]) one.on('error', () => socket.destroy());
    });
    await Promise.all([listening(hub), listening(proxy)]);
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all([hub, proxy].map(close));
    rmSync(folder, { recursive: true, force: true });
  });

  const address = () => `http://127.0.0.1:${portOf(proxy)}`;

  async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Promise<string> {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `${ROOT}/${program}`, ...args], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        TMPDIR: folder,
        NODE_EXTRA_CA_CERTS: `${folder}/ca.pem`,
        MUSTER_TOKEN: 'mk_a.b',
        MUSTER_URL: HUB,
        ...env,
      },
    });
    child.stdin.end(input);
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return out + err;
  }

  const status = (env: NodeJS.ProcessEnv) => run('packages/muster/src/main.ts', ['status', '--once'], env);
  const hook = (env: NodeJS.ProcessEnv) =>
    run('plugins/muster/scripts/pulse.mjs', [], env, '{"session_id":"s","hook_event_name":"SessionStart"}');

  for (const name of ['HTTPS_PROXY', 'https_proxy']) {
    it(`lets muster status reach the hub through the variable ${name}`, async () => {
      assert.equal(
        await status({ [name]: address() }),
        'The hub refused the request (HTTP 401). Who are you? Set MUSTER_TOKEN to the credential of an agent.\n',
      );
      assert.deepEqual(asked, ['hub.invalid:443']);
    });

    it(`lets the hook of the plugin reach the hub through the variable ${name}`, async () => {
      assert.match(await hook({ [name]: address() }), /- Ship it\?/);
      assert.deepEqual([asked, called], [['hub.invalid:443'], ['inbox.list']]);
    });
  }

  it('lets muster status reach the hub even if the proxy address has no scheme', async () =>
    assert.match(await status({ HTTPS_PROXY: address().slice('http://'.length) }), /HTTP 401/));

  it('makes muster status fail, without showing the password, if the proxy is unreachable', async () => {
    const output = await status({ HTTPS_PROXY: 'http://me:secret@127.0.0.1:9' });
    assert.match(
      output,
      /^Cannot reach https:\/\/hub\.invalid: .*\(HTTPS_PROXY is set to the proxy 127\.0\.0\.1:9\).*\n$/,
    );
    assert.doesNotMatch(output, /secret/);
  });

  it('causes an error of muster status if the variable does not contain a proxy address', async () =>
    assert.match(await status({ HTTPS_PROXY: 'http://' }), /^Cannot reach .*HTTPS_PROXY is not a proxy address.*\n$/));

  for (const name of ['NO_PROXY', 'no_proxy'])
    it(`is not used for the hub if the variable ${name} lists the hub`, async () => {
      const env = { HTTPS_PROXY: address(), [name]: 'hub.invalid' };
      assert.match(await status(env), /Cannot reach/);
      assert.equal(await hook(env), '');
      assert.deepEqual(asked, []);
    });

  it('is not used for a hub on this machine', async () => {
    const local = createServer((_, response) => response.writeHead(401).end('{"error":{"message":"Who?"}}'));
    const env = {
      HTTPS_PROXY: address(),
      HTTP_PROXY: address(),
      NODE_USE_ENV_PROXY: '1',
      MUSTER_URL: `${await listening(local)}/mcp`,
    };
    assert.match(await status(env), /HTTP 401/);
    await hook(env);
    assert.deepEqual(asked, []);
    await close(local);
  });
});
