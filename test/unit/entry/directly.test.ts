import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { HttpsFunction } from 'firebase-functions/https';
import { requestStart } from '../../../functions/src/entry/http.ts';
import { close, listen, portOf } from '../../support/listening.ts';

it("handles requests without the framework's listeners only at the port of the platform", async () => {
  const framework = () => createServer((_, response) => response.end('framework'));
  const [platform, other] = [framework(), framework()];
  const serve = async ({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (url === '/broken') throw new Error('broken');
    if (url === '/half') {
      response.write('half');
      throw new Error('broken after the headers');
    }
    response.end(`function ${headers['content-length']}`);
  };
  const urls = [await listen(platform), await listen(other)];
  const onStart = requestStart(String(portOf(platform)), serve as unknown as HttpsFunction);
  subscribe('http.server.request.start', onStart);
  const answers: string[] = [];
  for (const url of [...urls, urls[0], `${urls[0]}/broken`])
    answers.push(await (await fetch(String(url), { method: 'POST', body: 'body' })).text());
  await assert.rejects(fetch(`${urls[0]}/half`).then((half) => half.text()));
  unsubscribe('http.server.request.start', onStart);
  await Promise.all([close(platform), close(other)]);
  assert.deepEqual(answers, ['function undefined', 'framework', 'function undefined', '']);
});
