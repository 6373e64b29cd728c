/** What becomes of a run that an instance could not go on with: another one tries it, but not for ever. */
import { MusterError } from '../../errors.ts';
import { priceOf } from '../calls/price.ts';
import type { OrchestrationPorts } from '../runPorts.ts';
import { abandonedTasks } from './abandoning.ts';
import { bookingOf } from './journal.ts';
import type { LeftRun } from './lease.ts';
import { ended, handedOn, MAX_DELIVERIES, type Run, type Spent, spentOn } from './run.ts';

/**
 * The run as it is left by an instance that met an error: to the next one, or failed.
 * @param why what it met; undefined where instances ended without a word
 */
export async function leftAfter(
  run: Run,
  why: unknown,
  now: Date,
  ports: OrchestrationPorts,
): Promise<LeftRun> {
  if (run.deliveries < MAX_DELIVERIES) return { run: handedOn(run, now), changes: [] };
  const failure = { reason: 'EXECUTION_FAILED', message: messageOf(run, why) };
  const spent = await spentSoFar(run, ports);
  const failed = ended({ ...run, spent }, { status: 'failed', failure }, now);
  return { run: failed, changes: await abandonedTasks(ports.tasks, failed, now) };
}

function messageOf({ current }: Run, why: unknown): string {
  const where = current.length === 0 ? '' : ` at ${current.join(', ')}`;
  const said = why instanceof MusterError ? why.message : LOGGED;
  return `The run was taken up ${MAX_DELIVERIES} times${where}, and broke off each time before a step was done. ${said}`;
}

const LOGGED =
  'It is no fault of the call: the log of this deployment says why, at run_broke_off with the id of the run.';

/** All that its calls have cost, those of steps included that came to nothing. */
async function spentSoFar(run: Run, { runs, hosted, log }: OrchestrationPorts): Promise<Spent> {
  try {
    const calls = await runs.calls(run.id);
    return spentOn(calls.map((entry) => bookingOf(entry, priceOf(hosted(), entry.agent))));
  } catch (error) {
    log.warn('run_not_booked', { runId: run.id, error });
    return run.spent;
  }
}
