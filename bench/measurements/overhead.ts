/** Overhead of the endpoint: requests per second, compared with a bare function that returns the same response. */
import { rmSync, writeFileSync } from 'node:fs';
import { devDirectory } from '../../scripts/project.mjs';
import { McpCaller, mcpHeaders, mcpMessage } from '../load/client.ts';
import { measureRate } from '../load/saturation.ts';
import { type Measurement, spread, type Target } from '../measurement.ts';
import { alternate, each, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, newProject } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';

interface Length {
  readonly schedule: Schedule;
  /** Length of a round. */
  readonly seconds: number;
}

const LENGTH: Length = { schedule: { warmUps: 1, rounds: 7 }, seconds: 3 };
const answering = new URL('../baselines/answering.mjs', import.meta.url).pathname;

/** Measures `tools/call` of a tool that does almost nothing, with authentication. */
export function measureOverhead(length = LENGTH): Promise<Measurement> {
  return compare({
    length,
    name: 'overhead',
    title: 'Authenticated tools/call of heartbeat, a tool that does almost nothing',
    method: 'tools/call',
    params: { name: 'coordination_heartbeat', arguments: { agent_id: 'worker0' } },
    query: '',
    bare: 'json',
    target: { kind: 'at least', value: 0.65 },
  });
}

/** Measures `tools/list` with all tools and output schemas, which is the longest of the frequent responses. */
export function measureList(): Promise<Measurement> {
  return compare({
    length: LENGTH,
    name: 'list',
    title: 'tools/list of all tools',
    method: 'tools/list',
    params: {},
    query: '?toolsets=all',
    bare: 'raw',
    target: { kind: 'at least', value: 0.95 },
  });
}

interface Comparison {
  readonly length: Length;
  readonly name: string;
  readonly title: string;
  readonly method: string;
  readonly params: object;
  readonly query: string;
  /** Name of a bare function in baselines/answering.mjs. */
  readonly bare: 'json' | 'raw';
  readonly target: Target;
}

async function compare(comparison: Comparison): Promise<Measurement> {
  const { length, name, title, method, params, query, bare, target } = comparison;
  const project = newProject(name);
  const [worker] = await addCallers(project, 'worker');
  if (worker === undefined) throw new Error('Missing caller.');
  const muster = await serveFunction({ ...musterFunction, env: project.env });
  const asked = { ...muster, url: `${muster.url}${query}` };
  const { text } = await new McpCaller(asked.url, worker.credential).send(method, params);
  const answerFile = `${devDirectory}/bench-answer-${process.pid}.json`;
  writeFileSync(answerFile, text);
  const baseline = await serveFunction({ source: answering, target: bare, env: { ANSWER_FILE: answerFile } });
  const request = {
    headers: mcpHeaders(worker.credential),
    body: mcpMessage(method, params),
    isRight: (answer: string) => answer === text,
  };
  const rates = await alternate(
    length.schedule,
    () => measureRate(asked, request, length.seconds),
    () => measureRate(baseline, request, length.seconds),
  );
  const perSecond = each(rates, (rate) => rate.perSecond);
  const cpu = each(rates, (rate) => rate.cpuMicroseconds);
  await Promise.all([muster.end(), baseline.end()]);
  rmSync(answerFile);
  return {
    name,
    title,
    ratio: ratioOf(perSecond),
    target,
    figures: {
      'requests/s': spread(perSecond.ours),
      'requests/s of the baseline': spread(perSecond.baseline),
      'CPU µs per request': spread(cpu.ours),
      'CPU µs per request of the baseline': spread(cpu.baseline),
      'bytes of the response': Buffer.byteLength(text),
    },
  };
}
