/** Billed Firestore operations per call of each tool, counted in the messages between the function and Firestore. */
import { z } from 'zod';
import { McpCaller } from '../load/client.ts';
import type { Measurement } from '../measurement.ts';
import { addCallers, newProject } from '../seed.ts';
import { serveMetered } from '../servers/meteredServer.ts';
import { startRunQueue } from '../servers/runQueue.ts';
import { type Bill, NOTHING, plus } from '../wire/bill.ts';
import { isPeriodic } from '../wire/look.ts';
import type { Meter, MeteredCall } from '../wire/meter.ts';
import type { Ledger } from './costLedger.ts';
import { startPeople } from './costOfAccess.ts';
import { startGitHub } from './costOfGitHub.ts';
import { ORIGIN } from './costOfSignIn.ts';
import { letAnswer } from './costOfSteering.ts';
import { playEveryTool } from './costScenario.ts';

export interface CostRow extends Bill {
  /** Full name of a tool, URI or URI template of a resource, or sign-in request. */
  readonly what: string;
  readonly situation: string;
}

export interface CostMeasurement extends Measurement {
  readonly rows: readonly CostRow[];
}

export async function measureCost(): Promise<CostMeasurement> {
  const project = newProject('cost');
  const [leader] = await addCallers(project, 'leader');
  const [worker] = await addCallers(project, 'worker');
  if (leader === undefined || worker === undefined) throw new Error('Missing callers.');
  await letAnswer(project, worker.agentId);
  const [gitHub, runQueue, { owner, invited }] = await Promise.all([
    startGitHub(),
    startRunQueue(project.env),
    startPeople(project),
  ]);
  const server = await serveMetered(project, { ...gitHub.env, ...runQueue.env, PUBLIC_URL: ORIGIN });
  const cast = {
    url: server.url,
    leader: new McpCaller(server.url, leader.credential),
    worker: new McpCaller(server.url, worker.credential),
    owner: new McpCaller(server.url, owner),
    invited: new McpCaller(server.url, invited),
    invitedToken: invited,
    workerId: worker.agentId,
    runQueue,
  };
  const rows: CostRow[] = [];
  const faults: string[] = [];
  await playEveryTool(cast, ledgerOf(server.meter, rows, faults));
  const missing = (await everything(new McpCaller(`${server.url}?toolsets=all`, leader.credential))).filter(
    (what) => !rows.some((row) => wireName(row.what) === what),
  );
  await Promise.all([server.end(), gitHub.stop(), runQueue.stop()]);
  faults.push(...missing.map((what) => `${what} is missing from bench/measurements/costScenario.ts`));
  return { name: 'cost', title: 'Firestore documents per call', figures: { calls: rows.length }, faults, rows };
}

function ledgerOf(meter: Meter, rows: CostRow[], faults: string[]): Ledger {
  const bookAll = (what: string, situation: string, calls: readonly MeteredCall[]): Bill => {
    const bill = calls.reduce((sum, call) => plus(sum, call.bill), NOTHING);
    const row = { what, situation, ...bill };
    // Skip a row that repeats an earlier call in the same situation and with the same cost.
    if (!rows.some((known) => JSON.stringify(known) === JSON.stringify(row))) rows.push(row);
    return bill;
  };
  const book = (what: string, situation: string) => bookAll(what, situation, withoutAuthentication(meter.take()));
  return {
    async call(by, tool, args, situation = '') {
      meter.take();
      const answer = await by.call(tool, args);
      await meter.idle();
      book(tool, situation);
      return answer;
    },
    async read(by, uri, situation = '', template = uri) {
      meter.take();
      const { text } = await by.send('resources/read', { uri });
      if ('error' in JSON.parse(text)) throw new Error(`${uri}: ${text.slice(0, 500)}`);
      book(template, situation);
    },
    async whole(what, situation, deed) {
      meter.take();
      await deed();
      return bookAll(what, situation, meter.take());
    },
    fault: (what) => void faults.push(what),
  };
}

/** A check makes three requests: for the credential, for its agent, and for the agent's owner and all workspaces. */
const CHECK_REQUESTS = 3;

/** Removes the reads of credential checks and of access changes, which are reported separately. */
function withoutAuthentication(all: readonly MeteredCall[]): readonly MeteredCall[] {
  const calls = all.filter((call) => !isPeriodic(call));
  const at = calls.findIndex(
    ({ method, documents }) =>
      method === 'BatchGetDocuments' && documents.some((name) => name.includes('/credentials/')),
  );
  return at < 0 ? calls : [...calls.slice(0, at), ...calls.slice(at + CHECK_REQUESTS)];
}

const toolList = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) });
const resourceList = z.object({ result: z.object({ resources: z.array(z.object({ uri: z.string() })) }) });

/** Returns the names of all listed tools, and the URIs of all listed resources and resource templates. */
async function everything(caller: McpCaller): Promise<string[]> {
  const tools = toolList.parse(JSON.parse((await caller.send('tools/list')).text));
  const resources = resourceList.parse(JSON.parse((await caller.send('resources/list')).text));
  return [...tools.result.tools.map(({ name }) => name), ...resources.result.resources.map(({ uri }) => uri)];
}

/** Returns the name under which `tools/list` lists the tool, without dots. */
function wireName(what: string): string {
  return what.includes('://') ? what : what.replace('.', '_');
}
