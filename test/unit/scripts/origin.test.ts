/** Proxy that gives `npm start` one origin. It forwards bytes unchanged and immediately in both directions. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { startOrigin } from '../../../scripts/emulators/origin.mjs';
import { RawConnection } from '../../support/rawHttp.ts';

const MOUNT = '/demo-muster/us-central1/mcp';

type Exchange = readonly [received: IncomingMessage, response: ServerResponse];

/** Imitates the functions emulator. The test decides its responses. */
class FunctionsEmulator {
  answer: RequestListener = (_received, response) => response.end();
  private server = createServer();

  async start(port = 0): Promise<number> {
    this.server = createServer((received, response) => this.answer(received, response));
    // Without this listener, Node would send "100 Continue" itself.
    this.server.on('checkContinue', (received, response) => this.answer(received, response));
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    return portOf(this.server);
  }

  /** Returns the next request, to which the test then responds. */
  next(): Promise<Exchange> {
    return new Promise((resolve) => {
      this.answer = (received, response) => resolve([received, response]);
    });
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function answerTo(asked: ClientRequest): Promise<IncomingMessage> {
  const [answer] = await once(asked, 'response');
  return answer;
}

/** Node reads and writes header values in the encoding latin1. */
const latin1 = (words: string): string => Buffer.from(words).toString('latin1');

describe('origin proxy of npm start', () => {
  const emulator = new FunctionsEmulator();
  let behind: number;
  let origin: Server;
  let port: number;

  before(async () => {
    behind = await emulator.start();
    origin = await startOrigin({ port: 0, functions: behind });
    port = portOf(origin);
  });
  after(() => {
    origin.closeAllConnections();
    origin.close();
    emulator.stop();
  });

  const ask = (options: RequestOptions = {}): ClientRequest => {
    const asked = request({ host: '127.0.0.1', port, path: '/mcp', agent: false, ...options });
    asked.on('error', () => undefined);
    return asked;
  };
  const connect = () => RawConnection.open(`http://127.0.0.1:${port}`);

  it('maps its root to the function, and preserves paths and queries', async () => {
    emulator.answer = ({ url }, response) => response.end(url);
    const paths = [
      ...['/', '/mcp', '/token', '/?a=b', '/mcp/coordination?toolsets=a,b&x=%2F+%00&&y=?'],
      ...['/.well-known/oauth-protected-resource/mcp', '//mcp', '/a/../b%2e%2E', `${MOUNT}/mcp`],
    ];
    for (const path of paths) {
      const answer = await answerTo(ask({ path }).end());
      assert.equal(await text(answer), `${MOUNT}${path}`);
    }
  });

  it('accepts an absolute URL or "OPTIONS *" as the target of a request', async () => {
    emulator.answer = ({ url = '' }, response) => {
      response.writeHead(200, { 'content-length': url.length }).end(url);
    };
    const connection = await connect();
    for (const [line, path] of [
      ['GET http://muster.example/token?x=http://a/b', '/token?x=http://a/b'],
      ['GET http://muster.example', '/'],
      ['OPTIONS *', '/'],
    ] as const) {
      connection.head(line);
      assert.equal((await connection.answer()).body, `${MOUNT}${path}`);
    }
    connection.socket.destroy();
  });

  it('preserves the method, the host and all headers of a request', async () => {
    const sent = ['Host', 'Muster.example:1234', 'X-mixed-Case', 'Ä b', 'Cookie', 'a=1', 'Cookie', 'b=2'];
    const headers = [...sent, 'Authorization', 'Bearer x.y', 'Content-Length', '0'].map(latin1);
    const exchange = emulator.next();
    const asked = ask({ method: 'DELETE', headers: ['Connection', 'close', ...headers] }).end();
    const [received, response] = await exchange;
    assert.equal(received.method, 'DELETE');
    assert.deepEqual(received.rawHeaders.slice(0, headers.length), headers);
    const reported = ['WWW-Authenticate', 'Bearer a="ü"', 'set-cookie', 'a=1', 'Set-Cookie', 'b=2'].map(latin1);
    response.sendDate = false;
    response.writeHead(401, [...reported, 'Content-Length', '2', 'Keep-Alive', 'timeout=7']).end(Buffer.from('no'));
    const answer = await answerTo(asked);
    assert.equal(answer.statusCode, 401);
    assert.deepEqual(answer.rawHeaders, [...reported, 'Content-Length', '2', 'Connection', 'close']);
    assert.equal(await text(answer), 'no');
  });

  it('forwards bytes in both directions, with and without a content length', async () => {
    const bytes = randomBytes(2 ** 20);
    for (const framing of [{ 'content-length': bytes.length }, { 'transfer-encoding': 'chunked' }]) {
      emulator.answer = (received, response) => {
        response.writeHead(200, framing);
        received.pipe(response);
      };
      for (const method of ['POST', 'DELETE']) {
        const answer = await answerTo(ask({ method, headers: framing }).end(bytes));
        assert.ok(bytes.equals(await buffer(answer)));
        for (const [name, value] of Object.entries(framing)) assert.equal(answer.headers[name], String(value));
      }
    }
  });

  it('forwards each part as soon as it arrives, starting with the headers', async () => {
    const exchange = emulator.next();
    const asked = ask({ method: 'POST' });
    asked.flushHeaders();
    const [received, response] = await exchange;
    asked.write('first');
    assert.equal(String((await once(received, 'data'))[0]), 'first');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const answer = await answerTo(asked);
    assert.equal(answer.headers['content-type'], 'text/event-stream');
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      response.write(event);
      assert.equal(String((await once(answer, 'data'))[0]), event);
    }
    asked.end('last');
    assert.equal(String((await once(received, 'data'))[0]), 'last');
    response.end();
    await once(answer, 'end');
  });

  it('returns several responses without a body over one connection', async () => {
    const connection = await connect();
    for (const [line, status] of [
      ['HEAD /mcp', 401],
      ['HEAD /mcp', 200],
      ['GET /mcp', 304],
      ['OPTIONS /mcp', 204],
    ] as const) {
      emulator.answer = (_received, response) => response.writeHead(status).end();
      connection.head(line);
      const { headers, ...answer } = await connection.answer();
      assert.deepEqual(answer, { status, body: '' });
      assert.equal(headers.get('connection'), 'keep-alive');
    }
    emulator.answer = (_received, response) => response.writeHead(200, { 'content-length': 12 }).end();
    const answer = await answerTo(ask({ method: 'HEAD' }).end());
    assert.equal(answer.headers['content-length'], '12');
    connection.socket.destroy();
  });

  it('lets the function decide whether to send "100 Continue"', async () => {
    const expecting = { method: 'POST', headers: { expect: '100-continue', 'content-length': 4 } };
    emulator.answer = (received, response) => {
      response.writeContinue();
      received.pipe(response);
    };
    const welcome = ask(expecting);
    await once(welcome, 'continue');
    assert.equal(await text(await answerTo(welcome.end('body'))), 'body');

    emulator.answer = (_received, response) => response.writeHead(413).end();
    const unwelcome = ask(expecting);
    unwelcome.on('continue', () => assert.fail('the client received 100 Continue'));
    assert.equal((await answerTo(unwelcome)).statusCode, 413);
    unwelcome.destroy();
  });

  it('aborts its request to the function if the client disconnects at any stage', async () => {
    for (const method of ['GET', 'POST'])
      for (const isAnswered of [false, true]) {
        const exchange = emulator.next();
        const asked = ask({ method });
        if (method === 'GET') asked.end();
        else asked.write('half');
        const [received, response] = await exchange;
        received.on('error', () => undefined);
        if (isAnswered) {
          response.write('half');
          await once(await answerTo(asked), 'data');
        }
        asked.destroy();
        await once(response, 'close');
      }
  });

  it("aborts the client's response if the function's response is interrupted", async () => {
    const exchange = emulator.next();
    const asked = ask().end();
    const [, response] = await exchange;
    response.write('half');
    const answer = await answerTo(asked);
    await once(answer, 'data');
    response.destroy();
    await assert.rejects(once(answer, 'end'), { code: 'ECONNRESET' });
  });

  it('keeps a connection open if the function did not read the request body', async () => {
    emulator.answer = (_received, response) => response.writeHead(400, { 'content-length': 0 }).end();
    const connection = await connect();
    const bytes = 'x'.repeat(2 ** 20);
    connection.head('POST /mcp', { 'Content-Length': String(bytes.length) });
    assert.equal((await connection.answer()).status, 400);
    connection.write(bytes);
    connection.head('GET /mcp');
    assert.equal((await connection.answer()).status, 400);
    connection.socket.destroy();
  });

  it('forwards 200 concurrent requests', async () => {
    const waiting: Exchange[] = [];
    const count = 200;
    emulator.answer = (received, response) => {
      waiting.push([received, response]);
      if (waiting.length < count) return;
      for (const [{ url }, each] of waiting.reverse()) each.end(url);
    };
    const answers = Array.from({ length: count }, async (_, index) => {
      const path = `/${index}`;
      assert.equal(await text(await answerTo(ask({ path }).end())), `${MOUNT}${path}`);
    });
    await Promise.all(answers);
  });

  it('returns 502 while the functions emulator is not running, and then works again', async () => {
    const exchange = emulator.next();
    const broken = ask().end();
    const [received] = await exchange;
    received.socket.destroy();
    const away = {
      error: 'bad_gateway',
      message: `The functions emulator at http://127.0.0.1:${behind} does not respond.`,
    };
    const answer = await answerTo(broken);
    assert.equal(answer.statusCode, 502);
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal(await text(answer), `${JSON.stringify(away)}\n`);
    emulator.stop();
    for (const method of ['GET', 'POST']) {
      const refused = await answerTo(ask({ method }).end(method === 'POST' ? 'body' : undefined));
      assert.equal(refused.statusCode, 502);
      assert.deepEqual(JSON.parse(await text(refused)), away);
    }
    await emulator.start(behind);
    emulator.answer = (_received, response) => response.end('well');
    assert.equal(await text(await answerTo(ask().end())), 'well');
  });

  it('continues to run after malformed HTTP from the client or the function', async () => {
    emulator.answer = ({ socket }) => void socket.end('HTTP/1.1 099 \x01\r\nA: \x01\r\n\r\n');
    assert.equal((await answerTo(ask().end())).statusCode, 502);
    emulator.answer = ({ socket }) => void socket.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n');
    assert.equal((await answerTo(ask().end())).statusCode, 502);
    for (const bytes of ['\x00\x01\r\n\r\n', 'GET /a b HTTP/1.1\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n']) {
      const connection = await connect();
      connection.write(bytes);
      await connection.closed();
    }
    emulator.answer = (_received, response) => response.end('well');
    assert.equal(await text(await answerTo(ask().end())), 'well');
  });

  it('does not prevent the end of its process, even during a request', async () => {
    const module = new URL('../../../scripts/emulators/origin.mjs', import.meta.url).href;
    const code = `import { startOrigin } from '${module}';
      const server = await startOrigin({ port: 0, functions: ${behind} });
      process.stdin.resume();
      console.log(server.address().port);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [printed] = await once(child.stdout, 'data');
    const exchange = emulator.next();
    const asked = ask({ port: Number(printed) }).end();
    const [, response] = await exchange;
    response.write('half');
    await answerTo(asked);
    child.stdin.end();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
