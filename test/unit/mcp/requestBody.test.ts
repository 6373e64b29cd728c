/** Bodies against the clock, and webhooks' bodies. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GitHubWebhook } from '../../../functions/src/adapters/github/webhook.ts';
import { disguise } from '../../../functions/src/entry/http/disguise.ts';
import { createDeliveryEndpoint } from '../../../functions/src/mcp/deliveries.ts';
import { Refusal } from '../../../functions/src/mcp/refusal.ts';
import { answerEarly, readBody } from '../../../functions/src/mcp/requestBody.ts';
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
      const deliveries = { receive: () => Promise.reject(new Error('Nothing is to come here.')) };
      const endpoint = createDeliveryEndpoint(new GitHubWebhook(() => secret, deliveries));
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
