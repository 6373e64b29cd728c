/** From the start of the process to its first answer, against a function that reads one document. */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mcpHeaders, mcpMessage, post } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, newProject } from '../seed.ts';
import { type FunctionSource, musterFunction, startFunction } from '../servers/functionServer.ts';

const SCHEDULE: Schedule = { warmUps: 2, rounds: 15 };

const oneDocument = fileURLToPath(new URL('../baselines/oneDocument.mjs', import.meta.url));

export async function measureColdStart(): Promise<Measurement> {
  const project = newProject('cold-start');
  const [worker] = await addCallers(project, 'worker');
  if (worker === undefined) throw new Error('There is no caller.');
  const status = mcpMessage('tools/call', { name: 'coordination_get_status', arguments: {} });
  const headers = mcpHeaders(worker.credential);
  const milliseconds = await alternate(
    SCHEDULE,
    () => firstAnswer({ ...musterFunction, env: project.env }, (url) => post(url, headers, status)),
    () =>
      firstAnswer({ source: oneDocument, target: 'oneDocument', env: project.env }, (url) =>
        post(url, {}, ''),
      ),
  );
  return {
    name: 'coldStart',
    title: 'From process start to the first answered tools/call (get_status)',
    ratio: ratioOf(milliseconds),
    target: { kind: 'at most', value: 1.5 },
    figures: {
      ms: spread(milliseconds.ours),
      'ms of a bare function that reads one document': spread(milliseconds.baseline),
    },
    faults: [],
  };
}

async function firstAnswer(
  source: FunctionSource,
  ask: (url: string) => Promise<{ readonly status: number; readonly text: string }>,
): Promise<number> {
  const started = performance.now();
  const server = await startFunction(source);
  try {
    for (;;) {
      const answer = await ask(server.url).catch(() => undefined);
      const milliseconds = performance.now() - started;
      if (answer?.status === 200) return milliseconds;
      if (answer !== undefined) throw new Error(`HTTP ${answer.status}: ${answer.text.slice(0, 500)}`);
      if (server.exited()) throw new Error(`${source.target} ended before it answered.`);
      await delay(1);
    }
  } finally {
    await server.end();
  }
}
