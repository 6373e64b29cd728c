/** Time from process start to the first response, compared with a bare function that reads one document. */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Answer, ask, mcpHeaders, mcpMessage, post } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, addGrant, newProject } from '../seed.ts';
import { type FunctionSource, musterFunction, startFunction } from '../servers/functionServer.ts';

const SCHEDULE: Schedule = { warmUps: 2, rounds: 15 };
const oneDocument = fileURLToPath(new URL('../baselines/oneDocument.mjs', import.meta.url));

/** Sign-in requires a public address, but the requests use the process's own address. */
const PUBLIC_URL = 'https://muster.example';

/** First request to the new process, whose response ends the measurement. */
interface First {
  readonly name: string;
  readonly title: string;
  readonly atMost: number;
  readonly status: number;
  readonly reason?: string;
  /** Prepares the request, and returns a function that sends it. */
  prepare(): Promise<(url: string) => Promise<Answer>>;
}

export async function measureColdStart(): Promise<Measurement[]> {
  const project = newProject('cold-start');
  const [worker] = await addCallers(project, 'worker');
  if (worker === undefined) throw new Error('Missing caller.');
  const status = mcpMessage('tools/call', { name: 'coordination_get_status', arguments: {} });
  const headers = mcpHeaders(worker.credential);
  const firsts: readonly First[] = [
    {
      name: 'coldStart',
      title: 'Time from process start to the first response to tools/call (get_status)',
      atMost: 1.15,
      status: 200,
      reason:
        "The time is processor time. The start with one read needs about 5 percent more than the baseline (`coldStart.token`), the check of the API key another 5 percent, and the agent's presence, for which the client of the Realtime Database connects, 8 percent. With Node's compile cache, the ratio would be 1.03, but its entries are valid only for one processor type ([decision 8](decisions/0008-build-and-deploy.md)). Next step: build the schemas of a tool when it is first called or listed.",
      prepare: async () => (url) => post(url, headers, status),
    },
    {
      name: 'coldStart.token',
      title: 'Time from process start to the first response to POST /token, which redeems a code',
      atMost: 1.1,
      status: 200,
      prepare: async () => {
        const { clientId, code, verifier } = await addGrant(project, worker.agentId);
        const redemption = { grant_type: 'authorization_code', client_id: clientId, code };
        const form = new URLSearchParams({ ...redemption, code_verifier: verifier }).toString();
        return (url) => post(`${url}token`, { 'content-type': 'application/x-www-form-urlencoded' }, form);
      },
    },
    {
      name: 'coldStart.challenge',
      title: 'Time from process start to the first response 401 to HEAD /mcp, which links to the sign-in',
      atMost: 0.8,
      status: 401,
      prepare: async () => (url) => ask('HEAD', `${url}mcp`),
    },
    {
      name: 'coldStart.metadata',
      title: 'Time from process start to the first response to GET /.well-known/oauth-authorization-server',
      atMost: 0.8,
      status: 200,
      prepare: async () => (url) => ask('GET', `${url}.well-known/oauth-authorization-server`),
    },
  ];
  const env = { ...project.env, PUBLIC_URL };
  const measurements: Measurement[] = [];
  for (const first of firsts) measurements.push(await measureFirst(first, env));
  return measurements;
}

async function measureFirst(first: First, env: FunctionSource['env'] & object): Promise<Measurement> {
  const { name, title, atMost, status, reason } = first;
  const milliseconds = await alternate(
    SCHEDULE,
    async () => firstAnswer({ ...musterFunction, env }, status, await first.prepare()),
    () => firstAnswer({ source: oneDocument, target: 'oneDocument', env }, 200, (url) => post(url, {}, '')),
  );
  return {
    name,
    title,
    ratio: ratioOf(milliseconds),
    target: { kind: 'at most', value: atMost },
    ...(reason !== undefined && { reason }),
    figures: {
      ms: spread(milliseconds.ours),
      'ms of the baseline, a function that reads one document': spread(milliseconds.baseline),
    },
  };
}

async function firstAnswer(
  source: FunctionSource,
  status: number,
  send: (url: string) => Promise<Answer>,
): Promise<number> {
  const started = performance.now();
  const server = await startFunction(source);
  try {
    for (;;) {
      const answer = await send(server.url).catch(() => undefined);
      const milliseconds = performance.now() - started;
      if (answer?.status === status) return milliseconds;
      if (answer !== undefined) throw new Error(`HTTP ${answer.status}: ${answer.text.slice(0, 500)}`);
      if (server.exited()) throw new Error(`${source.target} ended before its first response.`);
      await delay(1);
    }
  } finally {
    await server.end();
  }
}
