/** One request to the endpoint as it is deployed, in this process, on a stage on which the tool's example succeeds. */
import { subscribe } from 'node:diagnostics_channel';
import { createServer, IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { z } from 'zod';
import { startGitHub } from '../../bench/measurements/costOfGitHub.ts';
import { newProject } from '../../bench/seed.ts';
import { connectedTo } from '../../bench/servers/runQueue.ts';
import { newDatabase } from '../../test/attack/support/elsewhere.ts';
import { answer, toolNamed } from '../../test/integration/coordination/calls.ts';
import { setStage } from '../../test/integration/coordination/stage.ts';
import { Team } from '../../test/integration/coordination/team.ts';
import { LocalModels } from '../../test/support/models/server.ts';
import { beginWalk, type Walk } from './probes.ts';

const WALKED_HEADER = 'x-walked';

const walks: Walk[] = [];

// Whoever subscribes first hears first: what the entry itself does with a request is walked, too.
subscribe('http.server.request.start', (event) => {
  if (typeof event !== 'object' || event === null || !('request' in event)) return;
  const { request } = event;
  if (request instanceof IncomingMessage && request.headers[WALKED_HEADER]) walks.push(beginWalk());
});

export interface WalkedCall {
  readonly walk: Walk;
  /** What was wrong, where the tool refused. */
  readonly refusal?: string;
}

/** The worker on the stage holds a task that it has not started, and would be given that again without a commit. */
const BEYOND_EXAMPLE = new Map([['coordination_claim_task', { in_hand: ['task-xxx-002'] }]]);

/** @param tool as `/mcp` lists it */
export async function callOnce(tool: string): Promise<WalkedCall> {
  await enterOwnProject();
  await startVendors();
  const team = new Team();
  team.now = new Date();
  const url = `${await openDoor()}?workspace=${team.workspace}`;
  const params = {
    name: tool,
    arguments: { ...toolNamed(tool).tool.example, ...BEYOND_EXAMPLE.get(tool) },
  };
  const subscription = {
    name: 'firebase_subscribe',
    arguments: toolNamed('firebase_subscribe').tool.example,
  };
  await setStage(team);
  const headers = { ...HEADERS, authorization: `Bearer ${await newCredential(team)}` };
  // The first call makes and loads what an instance makes and loads once.
  await post(url, 'tools/call', params, headers);
  await setStage(team);
  // The one on the stage is another caller's, and can be read by that one alone.
  if (tool.startsWith('firebase_')) await post(url, 'tools/call', subscription, headers);
  // What an instance does now and then, and not for this call, is done now: it knows the caller, and has counted calls.
  await post(url, 'ping', {}, headers);
  await (await import('../../functions/src/app.ts')).app().ports.metrics.flush();
  const refusal = await post(url, 'tools/call', params, { ...headers, [WALKED_HEADER]: '1' });
  const [walk = new Set()] = walks;
  return { walk, ...(refusal !== undefined && { refusal }) };
}

/** No trigger hears of what is written there, and nobody else's agents are in it. */
async function enterOwnProject(): Promise<void> {
  const { id, env } = newProject('walk');
  const { url } = await newDatabase(id);
  const config = JSON.stringify({ projectId: id, databaseURL: url });
  Object.assign(process.env, env, { FIREBASE_CONFIG: config });
}

/** GitHub and models on this machine, and a queue whose runs are executed in this process. */
async function startVendors(): Promise<void> {
  const models = new LocalModels();
  const [gitHub] = await Promise.all([startGitHub(), models.start()]);
  const queue = { CLOUD_TASKS_EMULATOR_HOST: await startRunQueue() };
  Object.assign(process.env, gitHub.env, connectedTo(models), queue);
}

const enqueued = z.object({ task: z.object({ httpRequest: z.object({ body: z.base64() }) }) });

/** Source: firebase-admin, FunctionsApiClient.enqueue */
async function startRunQueue(): Promise<string> {
  const { app } = await import('../../functions/src/app.ts');
  const queue = createServer(async (request, response) => {
    const { task } = enqueued.parse(await json(request));
    const { data } = JSON.parse(Buffer.from(task.httpRequest.body, 'base64').toString());
    response.setHeader('content-type', 'application/json').end('{}');
    await app().services.runExecution.deliver(data);
  });
  return `127.0.0.1:${await portOf(queue)}`;
}

/** The deployed function `mcp` under the functions framework. */
async function openDoor(): Promise<string> {
  process.env['FUNCTION_TARGET'] = 'mcp';
  const { mcp } = await import('../../functions/src/entry/http.ts');
  // Firebase's type promises the raw body, which the entry leaves unread.
  http('mcp', (request, response) => mcp(Object.assign(request, { rawBody: Buffer.alloc(0) }), response));
  return `http://127.0.0.1:${await portOf(getTestServer('mcp'))}/`;
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server does not listen.');
  return address.port;
}

/** Of an agent that may call every tool, and has the same owner as everything on the stage. */
async function newCredential(team: Team): Promise<string> {
  const { store } = team.app.ports;
  await store.commit([{ kind: 'setPerson', uid: team.leader.ownerUid, role: 'admin' }]);
  const agentInfo = { name: 'walker', type: 'developer', version: '1.0.0' };
  const { credentials } = await answer(team, 'onboarding_registerAgent', {
    agentInfo,
    capabilities: [{ name: 'coding', category: 'general' }],
    role: 'leader',
  });
  const { apiKey, secret } = z.object({ apiKey: z.string(), secret: z.string() }).parse(credentials);
  return `${apiKey}.${secret}`;
}

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};

/** Sends a message, and gives what was wrong with it, if anything was. */
async function post(
  url: string,
  method: string,
  params: object,
  headers: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const text = await (await fetch(url, { method: 'POST', headers, body })).text();
  const isAnswered = /"result":/.test(text) && !/"isError":true/.test(text);
  return isAnswered ? undefined : text;
}
