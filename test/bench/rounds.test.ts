/** Short rounds of benchmarks. Limits are counts, or ratios of CPU time that hold even if all cores are busy. */
import assert from 'node:assert/strict';
import { type Figure, type Measurement, spread } from '../../bench/measurement.ts';
import { measureClaim } from '../../bench/measurements/claim.ts';
import { measureOverhead } from '../../bench/measurements/overhead.ts';
import { compareQueues } from '../../bench/measurements/scale.ts';
import { openQueue } from '../../bench/queue.ts';

/** Maximum CPU time of a call, as a multiple of the time of a bare function or of the Firestore client. */
const MAX_OVERHEAD = 10;
const MAX_CLAIM_CPU = 10;

/** While a queue only shrinks, an instance needs at most one query in ten claims. */
const MAX_QUERIES_PER_CLAIM = 0.1;

/** Maximum time of a claim with 1,000 tasks, as a multiple of the time with 100. */
const MAX_SCALE = 4;

/** Maximum documents read, written and deleted, and bytes sent and received, while a task is claimed and completed. */
const MAX_CYCLE = { documents: 14, http: 12_000, firestore: 40_000 };

describe('short rounds of the benchmarks', () => {
  it('a tool call needs little more CPU time than the call of a bare function', async () => {
    const measured = await measureOverhead({ schedule: { warmUps: 1, rounds: 1 }, seconds: 1 });
    const ratio = medianOf(measured, 'CPU µs per request') / medianOf(measured, 'CPU µs per request of the baseline');
    assert.ok(ratio <= MAX_OVERHEAD, `${ratio} times the CPU time`);
  });

  it('32 workers claim each task once; a claim needs few documents, bytes and CPU time', async () => {
    const length = { schedule: { warmUps: 0, rounds: 1 }, tasks: 100, contendedSeconds: 1 };
    const measured = await measureClaim(length);
    const faults = measured.flatMap(({ faults = [] }) => faults);
    assert.deepEqual(faults, []);
    const [whole, , cycle] = measured;
    assert.ok(whole && cycle);
    const ratio = medianOf(whole, 'CPU ms per claim') / medianOf(whole, 'CPU ms per claim of the baseline');
    assert.ok(ratio <= MAX_CLAIM_CPU, `${ratio} times the CPU time`);
    const used = {
      documents: medianOf(cycle, 'Firestore reads, writes and deletes'),
      http: medianOf(cycle, 'bytes of HTTP requests and responses'),
      firestore: medianOf(cycle, 'bytes of messages to and from Firestore'),
    };
    for (const what of ['documents', 'http', 'firestore'] as const)
      assert.ok(used[what] > 0 && used[what] <= MAX_CYCLE[what], `${what}: ${used[what]}`);
  });

  it('calls read the same number of documents with 1,000 tasks and agents as with 100', async () => {
    const [few, many] = [100, 1000];
    const short = await openQueue('rounds-short', few);
    const long = await openQueue('rounds-long', many);
    const measured = await compareQueues('scale', short, long, { warmUps: 1, rounds: 3 });
    await Promise.all([short.end(), long.end()]);
    const faults = measured.flatMap(({ faults = [] }) => faults);
    assert.deepEqual(faults, []);
    const claim = measured.find(({ name }) => name === 'scale.claim');
    assert.ok(claim?.ratio);
    assert.ok(claim.ratio.median <= MAX_SCALE, `${claim.ratio.median} times the time with ${few}`);
    const queries = medianOf(claim, `queries per call with ${many}`);
    assert.ok(queries <= MAX_QUERIES_PER_CLAIM, `${queries} queries per claim`);
  });
});

function medianOf({ figures }: Measurement, what: string): number {
  const figure: Figure | undefined = figures[what];
  assert.ok(figure !== undefined && typeof figure !== 'string', what);
  return (typeof figure === 'number' ? spread([figure]) : figure).median;
}
