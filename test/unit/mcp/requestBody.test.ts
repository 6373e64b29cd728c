/** Bodies against the clock, and webhooks' bodies. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { disguise } from '../../../functions/src/entry/http.ts';
import { BodyRoom, readBody } from '../../../functions/src/mcp/http/body.ts';
import { Refusal } from '../../../functions/src/mcp/http/refusal.ts';
import { answerEarly } from '../../../functions/src/mcp/http/response.ts';
import { createWebhookEndpoint } from '../../../functions/src/mcp/http/webhook.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import type { GitHubPorts } from '../../../functions/src/toolsets/github/rules/ports.ts';
import { GitHubWebhook } from '../../../functions/src/vendors/octokit/webhook.ts';
import { portsOf } from '../../support/ports.ts';
import { RawConnection } from '../../support/rawHttp.ts';

const MIB = 1024 * 1024;

describe('reading a body', () => {
  let server: Server;
  let raw: RawConnection;
  let listener: RequestListener;

  beforeEach(async () => {
    server = createServer((request, response) => {
      disguise(request);
      listener(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    raw = await RawConnection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });

  afterEach(async () => {
    raw.socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('ends with 408 where the body comes too slowly', async () => {
    listener = (request, response) => {
      readBody(request, response, { bytes: 100, milliseconds: 20 }).catch((error: unknown) => {
        assert.ok(error instanceof Refusal);
        answerEarly(request, response, { status: error.status, headers: {}, body: error.message });
      });
    };
    raw.head('POST /', { 'Content-Length': '10' });
    raw.write('123');
    const { status, body } = await raw.answer();
    assert.equal(status, 408);
    assert.match(body, /within 0\.02 seconds\. Nothing was done/);
  });

  it('ends with 429 where others hold all the room, and finds room when one of them is answered', async () => {
    const room = new BodyRoom(MIB);
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
          assert.ok(error instanceof Refusal);
          const { status, headers, message } = error;
          answerEarly(request, response, { status, headers: { ...headers }, body: message });
        },
      );
    };
    const { port } = server.address() as AddressInfo;
    const send = (path: string, bytes: number) =>
      fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: ' '.repeat(bytes) });
    const first = send('/held', MIB);
    const held = await holding;
    const refused = await send('/large', MIB);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.match(await refused.text(), /Nothing was done: send this one again/);
    assert.equal((await send('/small', 60_000)).status, 200);
    const closed = once(held, 'close');
    held.end('done');
    assert.equal(await (await first).text(), 'done');
    await closed;
    assert.equal((await send('/large', MIB)).status, 200);
    assert.deepEqual(read, [`/held ${MIB}`, '/small 60000', `/large ${MIB}`]);
  });

  it('cuts the connection where a refused body goes on and on', async () => {
    listener = (request, response) => {
      answerEarly(request, response, { status: 413, headers: {}, body: 'no' });
    };
    raw.head('POST /', { 'Transfer-Encoding': 'chunked' });
    assert.equal((await raw.answer()).status, 413);
    const chunk = `${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    for (let sent = 0; sent < 40; sent += 1) raw.write(chunk);
    await raw.closed();
  });

  describe("of a webhook's delivery", () => {
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
      ['a signature of another shape', { 'X-Hub-Signature-256': 'sha1=x' }, 401],
      ['too many bytes', { 'X-Hub-Signature-256': signed(''), 'Content-Length': String(4 * MIB + 1) }, 413],
      ['a compression', { 'X-Hub-Signature-256': signed(''), 'Content-Encoding': 'gzip' }, 415],
    ] as const) {
      it(`is not begun where there is ${what}`, async () => {
        raw.head('POST /', { 'Content-Length': '1000', ...headers, ...more });
        const answer = await raw.answer();
        assert.equal(answer.status, status, answer.body);
        assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
      });
    }

    it('is done where the signature may be right', async () => {
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
