import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { inspect } from 'node:util';
import {
  exchange,
  type HttpResponse,
  NoResponseError,
} from '../../../../functions/src/toolsets/firebase/realtime/transport.ts';
import { close, listen } from '../../../support/listening.ts';

const LIMITS = { timeoutMilliseconds: 5000, maxBytes: 1000 };

/** Starts a server with this listener, sends a request to the server and returns the response. */
async function asked(listener: RequestListener, limits = LIMITS): Promise<HttpResponse> {
  const server = createServer(listener);
  try {
    const url = `${await listen(server)}/a.json?auth=secret-token`;
    return await exchange(url, { method: 'GET', headers: {} }, limits);
  } finally {
    await close(server);
  }
}

/** Returns a check for assert.rejects: the error reports a missing response and contains no URL. */
function unanswered(isSent: boolean): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof NoResponseError);
    assert.equal(error.isSent, isSent, error.reason);
    assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /secret-token/);
    return true;
  };
}

const lost = unanswered(true);

describe('HTTP request to the Realtime Database', () => {
  it('returns the status, the ETag and the text of the response', async () => {
    const answer = await asked((_, response) => response.writeHead(401, { etag: 'abc' }).end('"é"'));
    assert.deepEqual(answer, { status: 401, etag: 'abc', text: '"é"' });
  });

  it('stops reading a response that exceeds the maximum size', async () => {
    let sent = 0;
    const { text } = await asked((_, response) => {
      const send = (): void => {
        while (!response.destroyed && sent < 1e9 && response.write('x'.repeat(10_000))) sent += 10_000;
        response.once('drain', send);
      };
      send();
    });
    assert.equal(text, undefined);
    assert.ok(sent < 1e8);
  });

  it('accepts a response that has exactly the maximum size', async () => {
    assert.equal((await asked((_, response) => response.end('x'.repeat(1000)))).text?.length, 1000);
    assert.equal((await asked((_, response) => response.end('x'.repeat(1001)))).text, undefined);
  });

  it('has a timeout for the start of the response and another one for its end', async () => {
    const impatient = { ...LIMITS, timeoutMilliseconds: 100 };
    await assert.rejects(
      asked(() => {}, impatient),
      lost,
    );
    await assert.rejects(
      asked((_, response) => response.write('{'), impatient),
      lost,
    );
  });

  it('reports whether it may have arrived, and does not reveal its URL', async () => {
    await assert.rejects(
      asked((request) => request.socket.destroy()),
      lost,
    );
    const server = createServer();
    const origin = await listen(server);
    await close(server);
    for (const missing of [origin, 'http://nowhere.invalid', 'http://[']) {
      const sent = exchange(`${missing}/?auth=secret-token`, { method: 'GET', headers: {} }, LIMITS);
      await assert.rejects(sent, unanswered(false));
    }
  });
});
