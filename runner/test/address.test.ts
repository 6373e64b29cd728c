import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { parseSettings, UsageError } from '../src/arguments.ts';
import { HubConnection, HubUnreachable } from '../src/hub/connection.ts';
import { Hub } from '../src/hub/hub.ts';

const settingsFor = (url: string, ...more: readonly string[]) =>
  parseSettings(['--repo', '.', '--token', 'mk_a.b', '--url', url, ...more], {});

describe('the hub address of a runner', () => {
  for (const url of [
    'https://example.com/mcp',
    'http://127.0.0.1:5001/mcp',
    'http://127.9.9.9/mcp',
    'http://127.1/mcp',
    'http://[::1]:5001/mcp',
    'http://localhost:5001/mcp',
    'http://LOCALHOST/mcp',
  ])
    it(`is accepted without --allow-http if it is ${url}`, () => assert.ok(settingsFor(url)));

  for (const url of [
    'http://example.com/mcp',
    'http://127.evil.com/mcp',
    'http://127.0.0.1.nip.io/mcp',
    'http://localhost.evil.com/mcp',
    'http://127.0.0.1@evil.com/mcp',
    'http://localhost:80@evil.com/mcp',
    'http://192.168.0.7/mcp',
    'http://0.0.0.0/mcp',
    'http://[::2]/mcp',
    'http://[fe80::1]/mcp',
  ])
    it(`is refused without --allow-http if it is ${url}`, () => {
      assert.throws(
        () => settingsFor(url),
        (error) => error instanceof UsageError && /--allow-http/.test(error.message),
      );
      assert.ok(settingsFor(url, '--allow-http'));
    });

  it('is also refused without --allow-http if it comes from the variable MUSTER_URL', () => {
    const env = { MUSTER_URL: 'http://example.com/mcp', MUSTER_TOKEN: 'mk_a.b' };
    assert.throws(() => parseSettings(['--repo', '.'], env), UsageError);
  });
});

describe('a request of a runner to the hub', () => {
  const VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
  let servers: Server[];
  let sockets: Set<Socket>;
  let saved: NodeJS.ProcessEnv;

  beforeEach(() => {
    servers = [];
    sockets = new Set();
    saved = { ...process.env };
    for (const name of VARIABLES) delete process.env[name];
  });
  afterEach(async () => {
    for (const name of VARIABLES) delete process.env[name];
    Object.assign(process.env, saved);
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });

  async function listen(server: Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  /** Starts a proxy that records the host of each request and refuses the request. */
  async function proxy(): Promise<{ address: string; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(502).end();
    });
    server.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    return { address: `http://127.0.0.1:${await listen(server)}`, asked };
  }

  async function failureAt(url: string): Promise<HubUnreachable> {
    const hub = new Hub(new HubConnection(url, 'mk_secret.value'));
    const error: unknown = await hub
      .register([], { serves: 'owner', commands: false })
      .catch((thrown: unknown) => thrown);
    assert.ok(error instanceof HubUnreachable, String(error));
    return error;
  }

  for (const name of ['HTTPS_PROXY', 'https_proxy'])
    it(`goes through the proxy that the variable ${name} names`, async () => {
      const { address, asked } = await proxy();
      process.env[name] = address;
      await failureAt('https://hub.invalid/mcp');
      assert.ok(asked.includes('hub.invalid:443'), asked.join());
    });

  for (const name of ['HTTP_PROXY', 'http_proxy'])
    it(`goes through the proxy that the variable ${name} names if the hub is reached by http`, async () => {
      const { address, asked } = await proxy();
      process.env[name] = address;
      await failureAt('http://hub.invalid/mcp');
      assert.ok(
        asked.some((one) => one.includes('hub.invalid')),
        asked.join(),
      );
    });

  for (const name of ['NO_PROXY', 'no_proxy'])
    it(`does not go through the proxy if ${name} names the hub`, async () => {
      const { address, asked } = await proxy();
      process.env['HTTPS_PROXY'] = address;
      process.env[name] = 'other.example,hub.invalid';
      await failureAt('https://hub.invalid/mcp');
      assert.deepEqual(asked, []);
    });

  it('does not go through the proxy if the hub is on this machine', async () => {
    const { address, asked } = await proxy();
    for (const name of VARIABLES.filter((one) => !/no_proxy/i.test(one))) process.env[name] = address;
    let requests = 0;
    const port = await listen(
      createServer((_, response) => {
        requests += 1;
        response.writeHead(503).end();
      }),
    );
    await failureAt(`http://127.0.0.1:${port}/mcp`);
    await failureAt(`http://localhost:${port}/mcp`);
    assert.ok(requests >= 2);
    assert.deepEqual(asked, []);
  });

  for (const status of [301, 302, 303, 307, 308])
    it(`is not repeated at another address if the hub responds with ${status}`, async () => {
      const elsewhere: unknown[] = [];
      const target = await listen(
        createServer((request, response) => {
          elsewhere.push(request.headers.authorization);
          response.writeHead(200).end();
        }),
      );
      const location = `http://127.0.0.1:${target}/mcp`;
      const port = await listen(createServer((_, response) => response.writeHead(status, { location }).end()));
      const { message } = await failureAt(`http://127.0.0.1:${port}/mcp`);
      assert.deepEqual(elsewhere, []);
      assert.ok(message.includes(`redirects to ${location}`), message);
      assert.doesNotMatch(message, /secret/);
    });
});
