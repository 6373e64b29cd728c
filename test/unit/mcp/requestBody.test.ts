/** Bodies of requests to the endpoint and of webhooks: limits of size, encoding, time and memory. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { hideBody } from '../../../functions/src/entry/http.ts';
import { HttpRejection } from '../../../functions/src/mcp/http/rejection.ts';
import { BodyMemoryBudget, readBody } from '../../../functions/src/mcp/http/request.ts';
import { respondEarly } from '../../../functions/src/mcp/http/response.ts';
import { createWebhookEndpoint } from '../../../functions/src/mcp/http/webhook.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import type { GitHubPorts } from '../../../functions/src/toolsets/github/rules/ports.ts';
import { GitHubWebhook } from '../../../functions/src/vendors/octokit/webhook.ts';
import { systemToolset } from '../../support/fixture-toolset.ts';
import { close, listen, originOf } from '../../support/listening.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { portsOf } from '../../support/ports.ts';
import { type RawAnswer, RawConnection } from '../../support/rawHttp.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const CREDENTIAL = { Authorization: 'Bearer leader-key' };
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const MIB = 1024 * 1024;

describe('request body at the endpoint', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;
  const open: RawConnection[] = [];

  before(async () => {
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset] });
  });

  afterEach(() => {
    for (const connection of open.splice(0)) connection.socket.destroy();
  });

  after(() => endpoint.close());

  async function connection(): Promise<RawConnection> {
    const made = await RawConnection.open(endpoint.url);
    open.push(made);
    return made;
  }

  function refusedInJson({ status, headers, body }: RawAnswer, expected: number, message: RegExp): void {
    assert.equal(status, expected, body);
    assert.equal(headers.get('content-type'), 'application/json', body);
    assert.match(body, message);
    assert.doesNotThrow(() => JSON.parse(body), body);
  }

  it('may have at most 4 MiB, even if its length is not declared', async () => {
    const raw = await connection();
    raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Transfer-Encoding': 'chunked' });
    let answer: RawAnswer | undefined;
    const answered = raw.answer().then((one) => {
      answer = one;
    });
    const chunk = `${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    let sent = 0;
    while (answer === undefined) {
      assert.ok(sent < 64, 'the endpoint does not stop reading');
      sent += 1;
      if (!raw.socket.write(chunk))
        await Promise.race([answered, new Promise((resolve) => raw.socket.once('drain', resolve))]);
    }
    refusedInJson(answer, 413, /4194304 bytes/);
  });

  it('is never decompressed; a request with a Content-Encoding is refused', async () => {
    for (const encoding of ['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'identity, gzip', 'compress', 'x\u00ff'])
      for (const body of [gzipSync(PING), 'not packed at all']) {
        const raw = await connection();
        const length = { 'Content-Length': String(Buffer.byteLength(body)) };
        raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, ...length, 'Content-Encoding': encoding });
        raw.write(body);
        const answer = await raw.answer();
        refusedInJson(answer, 415, /must not be encoded/);
        assert.equal(answer.headers.get('accept-encoding'), 'identity');
      }
  });

  it('is read unchanged with or without a declared length, and with Content-Encoding identity', async () => {
    for (const headers of [{ 'Content-Encoding': 'identity' }, { 'Content-Type': 'application/json; charset=utf-8' }]) {
      const raw = await connection();
      raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, ...headers, 'Content-Length': String(PING.length) });
      raw.write(PING);
      assert.equal((await raw.answer()).status, 200);
      raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, ...headers, 'Transfer-Encoding': 'chunked' });
      for (const letter of PING) raw.write(`1\r\n${letter}\r\n`);
      raw.write('0\r\n\r\n');
      assert.equal((await raw.answer()).status, 200);
    }
  });

  it('does not block further requests on the same connection if it was refused', async () => {
    const raw = await connection();
    raw.head('POST /mcp', { ...JSON_TYPE, 'Content-Length': String(3 * MIB) });
    assert.equal((await raw.answer()).status, 401);
    raw.write(' '.repeat(3 * MIB));
    raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Content-Length': String(PING.length) });
    raw.write(PING);
    assert.equal((await raw.answer()).status, 200);
  });

  it('is requested with "100 Continue" only if the endpoint accepts the request', async () => {
    const expecting = { ...JSON_TYPE, Expect: '100-continue', 'Content-Length': String(PING.length) };
    const refused = await connection();
    refused.head('POST /mcp', expecting);
    assert.equal((await refused.answer()).status, 401);
    const wanted = await connection();
    wanted.head('POST /mcp', { ...expecting, ...CREDENTIAL });
    assert.equal((await wanted.answer()).status, 100);
    wanted.write(PING);
    assert.equal((await wanted.answer()).status, 200);
  });

  it('causes no server error if the client interrupts it', async () => {
    ports.entries.length = 0;
    const raw = await connection();
    raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Content-Length': '1000' });
    raw.write(PING);
    raw.socket.end();
    await raw.closed();
    const next = await connection();
    next.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Content-Length': String(PING.length) });
    next.write(PING);
    assert.equal((await next.answer()).status, 200);
    const errors = ports.entries.filter(({ level }) => level === 'error');
    assert.deepEqual(errors, []);
  });

  it('is not read, and the response is empty, if Node cannot parse the request', async () => {
    for (const [line, headers, body, status] of [
      ['POST /mcp', { 'Transfer-Encoding': 'chunked' }, 'zz\r\n', 400],
      ['POST /mcp', { 'Content-Length': 'x' }, '', 400],
      ['POST /mcp', { 'X-Long': 'x'.repeat(20_000) }, '', 431],
      ['NONE /mcp', {}, '', 400],
    ] as const) {
      const raw = await connection();
      raw.head(line, { ...JSON_TYPE, ...CREDENTIAL, ...headers });
      raw.write(body);
      const answer = await raw.answer();
      assert.deepEqual([answer.status, answer.body], [status, ''], line);
    }
  });
});

describe('limits on request bodies', () => {
  let server: Server;
  let raw: RawConnection;
  let listener: RequestListener;

  beforeEach(async () => {
    server = createServer((request, response) => {
      hideBody(request);
      listener(request, response);
    });
    raw = await RawConnection.open(await listen(server));
  });

  afterEach(async () => {
    raw.socket.destroy();
    await close(server);
  });

  it('cause status 408 if a body arrives too slowly', async () => {
    listener = (request, response) => {
      readBody(request, response, { bytes: 100, milliseconds: 20 }).catch((error: unknown) => {
        assert.ok(error instanceof HttpRejection);
        respondEarly(request, response, { status: error.status, headers: {}, body: error.message });
      });
    };
    raw.head('POST /', { 'Content-Length': '10' });
    raw.write('123');
    const { status, body } = await raw.answer();
    assert.equal(status, 408);
    assert.match(body, /within 0\.02 seconds\. Nothing was changed/);
  });

  it('cause status 429 only while the memory for bodies is used up', async () => {
    const room = new BodyMemoryBudget(MIB);
    const read: string[] = [];
    let hold: (response: ServerResponse) => void = () => undefined;
    const holding = new Promise<ServerResponse>((resolve) => {
      hold = resolve;
    });
    listener = (request, response) => {
      readBody(request, response, { bytes: 4 * MIB, milliseconds: 10_000 }, room).then(
        (body) => {
          read.push(`${request.url} ${body.length}`);
          if (request.url === '/held') hold(response);
          else response.end('read');
        },
        (error: unknown) => {
          assert.ok(error instanceof HttpRejection);
          const { status, headers, message } = error;
          respondEarly(request, response, { status, headers: { ...headers }, body: message });
        },
      );
    };
    const send = (path: string, bytes: number) =>
      fetch(`${originOf(server)}${path}`, { method: 'POST', body: ' '.repeat(bytes) });
    const first = send('/held', MIB);
    const held = await holding;
    const refused = await send('/large', MIB);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.match(await refused.text(), /Nothing was changed\. Retry in a second/);
    assert.equal((await send('/small', 60_000)).status, 200);
    const closed = once(held, 'close');
    held.end('done');
    assert.equal(await (await first).text(), 'done');
    await closed;
    assert.equal((await send('/large', MIB)).status, 200);
    assert.deepEqual(read, [`/held ${MIB}`, '/small 60000', `/large ${MIB}`]);
  });

  it('close the connection if a refused body does not end', async () => {
    listener = (request, response) => {
      respondEarly(request, response, { status: 413, headers: {}, body: 'no' });
    };
    raw.head('POST /', { 'Transfer-Encoding': 'chunked' });
    assert.equal((await raw.answer()).status, 413);
    const chunk = `${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    for (let sent = 0; sent < 40; sent += 1) raw.write(chunk);
    await raw.closed();
  });

  describe('of webhooks', () => {
    const secret = 'a secret';
    const ping = JSON.stringify({ zen: 'Keep it logically awesome.' });
    const signed = (body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'Content-Type': 'application/json', 'X-GitHub-Event': 'ping' };

    beforeEach(() => {
      const unused = new Deliveries(portsOf<GitHubPorts>({}));
      const endpoint = createWebhookEndpoint(new GitHubWebhook({ secret: () => secret, deliveries: unused }));
      listener = (request, response) => void endpoint(request, response);
    });

    for (const [what, more, status] of [
      ['no signature', {}, 401],
      ['a signature of another form', { 'X-Hub-Signature-256': 'sha1=x' }, 401],
      ['too many bytes', { 'X-Hub-Signature-256': signed(''), 'Content-Length': String(4 * MIB + 1) }, 413],
      ['a Content-Encoding', { 'X-Hub-Signature-256': signed(''), 'Content-Encoding': 'gzip' }, 415],
    ] as const)
      it(`cause a refusal before the body is read: ${what}`, async () => {
        raw.head('POST /', { 'Content-Length': '1000', ...headers, ...more });
        const answer = await raw.answer();
        assert.equal(answer.status, status, answer.body);
        assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
      });

    it('permit reading the body if the signature has the right form', async () => {
      for (const [signature, status] of [
        [signed(ping), 204],
        [signed('another'), 401],
      ] as const) {
        const sent = { ...headers, 'X-Hub-Signature-256': signature, 'Content-Length': String(ping.length) };
        raw.head('POST /', sent);
        raw.write(ping);
        assert.equal((await raw.answer()).status, status);
      }
    });
  });
});
