/** Program that claims a task at the deployed endpoint, and prints the files of functions/src that the call ran. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { z } from 'zod';
import { answer } from './coordination/calls.ts';
import { Team } from './coordination/team.ts';

process.env['FUNCTION_TARGET'] = 'mcp';
const { mcp } = await import('../../functions/src/entry/http.ts');
const { app } = await import('../../functions/src/app.ts');
const SOURCES = new URL('../../functions/src/', import.meta.url).href;

/** Serves the deployed function with the functions framework, and returns its URL. */
async function openEndpoint(): Promise<string> {
  // Firebase's type requires a raw body, which the entry does not read.
  http('mcp', (request, response) => mcp(Object.assign(request, { rawBody: Buffer.alloc(0) }), response));
  const server = getTestServer('mcp').listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}/`;
}

async function newAgent(team: Team) {
  const { agentId, credentials } = await answer(team, 'onboarding_registerAgent', {
    agentInfo: { name: 'claimer', type: 'developer', version: '1.0.0' },
    capabilities: [{ name: 'coding', category: 'general' }],
  });
  const { apiKey, secret } = z.object({ apiKey: z.string(), secret: z.string() }).parse(credentials);
  return { id: z.string().parse(agentId), credential: `${apiKey}.${secret}` };
}

const team = new Team();
team.now = new Date();
const { workspace, now, leader } = team;
await team.app.kernel.store.commit([
  { kind: 'nameWorkspace', workspace, access: 'private' },
  { kind: 'setMember', member: { uid: leader.owner_uid, workspace, role: 'worker', added_by: 'ada', added_at: now } },
]);
await team.app.services.coordination.initialize(workspace, { goal: 'A goal' }, () => undefined);
await team.create({}, {});
const { id, credential } = await newAgent(team);
const url = `${await openEndpoint()}?workspace=${workspace}`;
const claimed = z.object({ result: z.object({ structuredContent: z.object({ task: z.object({ id: z.string() }) }) }) });

async function request(method: string, params: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      authorization: `Bearer ${credential}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return response.json();
}

async function claim(heldTaskIds: readonly string[]): Promise<string> {
  const params = { name: 'coordination_claim_task', arguments: { agent_id: id, in_hand: heldTaskIds } };
  return claimed.parse(await request('tools/call', params)).result.structuredContent.task.id;
}

// The first call loads modules. The ping and the flush do periodic work, which the measured call then omits.
const first = await claim([]);
await request('ping', {});
await (await app()).limits.callMetrics.flush();

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true });
await session.post('Profiler.takePreciseCoverage');
await claim([first]);
const { result } = await session.post('Profiler.takePreciseCoverage');

const entered = result
  .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
  .filter(({ url }) => url.startsWith(SOURCES))
  .map(({ url }) => url.slice(SOURCES.length));
console.log(JSON.stringify(entered));
process.exit(0);
