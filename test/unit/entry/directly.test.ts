/** The platform's server lets the function handle its requests without the framework's listeners. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { HttpsFunction } from 'firebase-functions/https';
import { requestStart } from '../../../functions/src/entry/http.ts';
import { close, listen, originOf } from '../../support/listening.ts';

describe('request to a server of the process', () => {
  const servers = ['platform', 'other'].map(() => createServer((_, response) => response.end('framework')));
  const serve = async ({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (url === '/broken') throw new Error('broken');
    response.end(`function ${headers['content-length']}`);
  };
  let onStart: (event: unknown) => void;

  before(async () => {
    const [origin = ''] = await Promise.all(servers.map((server) => listen(server)));
    onStart = requestStart(new URL(origin).port, serve as unknown as HttpsFunction);
    subscribe('http.server.request.start', onStart);
  });

  after(async () => {
    unsubscribe('http.server.request.start', onStart);
    await Promise.all(servers.map((server) => close(server)));
  });

  it("is handled by the function only if the server listens at the platform's port", async () => {
    const text = async (at: number, path = '/') => {
      const server = servers[at];
      assert.ok(server);
      const response = await fetch(`${originOf(server)}${path}`, { method: 'POST', body: 'body' });
      return `${response.status} ${await response.text()}`;
    };
    const answers = [await text(0), await text(1), await text(0), await text(0, '/broken')];
    assert.deepEqual(answers, ['200 function undefined', '200 framework', '200 function undefined', '500 ']);
  });
});
