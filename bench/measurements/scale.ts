/** Time of calls with 10,000 tasks and agents, compared with 100 of each. */
import { type Measurement, spread } from '../measurement.ts';
import { openQueue, type Queue, TOOLS } from '../queue.ts';
import { alternate, each, ratioOf, type Schedule } from '../rounds.ts';

const SHORT = 100;
const LONG = 10_000;

/** Many short rounds, so that other load on the machine affects both queues equally. */
const SCHEDULE: Schedule = { warmUps: 3, rounds: 25 };

export async function measureScale(): Promise<Measurement[]> {
  const [short, long] = [await openQueue('scale-short', SHORT), await openQueue('scale-long', LONG)];
  const measurements = await compareQueues('scale', short, long, SCHEDULE);
  await Promise.all([short.end(), long.end()]);
  return measurements;
}

export async function compareQueues(
  name: string,
  short: Queue,
  long: Queue,
  schedule: Schedule,
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const [part, tool] of Object.entries(TOOLS)) {
    const rounds = await alternate(
      schedule,
      () => long.round(tool),
      () => short.round(tool),
    );
    const [whole, own] = [each(rounds, ({ inAll }) => inAll), each(rounds, (one) => one.outsideFirestore)];
    const cost = { short: await short.cost(tool), long: await long.cost(tool) };
    const [few, many] = [cost.short.reads, cost.long.reads];
    measurements.push({
      name: `${name}.${part}`,
      title: `Median time of ${tool} with ${long.size} tasks and agents, compared with the time with ${short.size}`,
      ratio: ratioOf(whole),
      target: { kind: 'at most', value: 1.15 },
      figures: {
        'ratio of the time outside Firestore': ratioOf(own),
        [`ms per call with ${long.size}`]: spread(whole.ours),
        [`ms per call with ${short.size}`]: spread(whole.baseline),
        [`ms per call outside Firestore with ${long.size}`]: spread(own.ours),
        [`ms per call outside Firestore with ${short.size}`]: spread(own.baseline),
        [`documents read per call with ${long.size}`]: many,
        [`documents read per call with ${short.size}`]: few,
        [`queries per call with ${long.size}`]: cost.long.queries,
      },
      reason: 'The emulator scans the whole collection for each query, while Firestore uses an index.',
      // The average of claims can differ by a query, which begins while claims continue.
      faults: Math.abs(few - many) < 0.1 ? [] : [`a call reads ${many} documents with many tasks, but ${few} with few`],
    });
  }
  return measurements;
}
