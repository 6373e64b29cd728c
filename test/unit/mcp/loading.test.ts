/** The endpoint loads services only for requests that need them. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { loadedOnce } from '../../../functions/src/kernel/memoCache.ts';
import { createEndpoint } from '../../../functions/src/mcp/http/endpoint.ts';
import { createAnswer } from '../../../functions/src/mcp/http/protocols.ts';
import { systemToolset } from '../../support/fixture-toolset.ts';
import { close, listen } from '../../support/listening.ts';
import { memoryPorts } from '../../support/mcp-endpoint.ts';

it('loads services once at the first request with a credential, and again after a failure', async () => {
  const ports = memoryPorts();
  let [loads, isBroken] = [0, true];
  const load = loadedOnce(async () => {
    loads += 1;
    if (isBroken) throw new Error('at /srv/secret.js');
    return { answerMcp: createAnswer({ ...ports, toolsets: [systemToolset] }) };
  });
  const endpoint = createEndpoint({ ...ports, toolsetNames: ['system'] }, load);
  const server = createServer((request, response) => void endpoint(request, response));
  const url = await listen(server);
  const send = async (headers = {}, method = 'POST') => {
    const response = await fetch(`${url}/mcp/rpc`, { method, headers, ...(method === 'POST' && { body: PING }) });
    return [response.status, await response.text()] as const;
  };
  const known = { Authorization: 'Bearer leader-key', 'Content-Type': 'application/json' };
  const statuses = [await send(), await send({}, 'HEAD'), await send({ ...known, Origin: 'https://evil.example' })];
  assert.deepEqual([loads, ...statuses.map(([status]) => status)], [0, 401, 401, 403]);
  const [status, text] = await send(known);
  assert.match(`${status} ${text}`, /^500 .*Internal error\. Report request id/);
  assert.ok(!text.includes('secret') && ports.entries.some(({ event }) => event === 'call_broke'));
  isBroken = false;
  const made = await Promise.all([send(known), send(known)]);
  assert.deepEqual([loads, ...made.map(([status]) => status)], [2, 200, 200]);
  assert.ok(!(load() instanceof Promise), 'later requests wait for no promise');
  await close(server);
});

const PING = '{"jsonrpc": "2.0", "id": 1, "method": "system.echo", "params": {"text": "ping"}}';
