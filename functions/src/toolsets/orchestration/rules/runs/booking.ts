/** What a run's calls have taken in all, as its journal says. */

import { bookingOf } from '../calls/journal.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { type Run, spentOn, workedOn } from './run.ts';

/**
 * All that its calls have taken, those of steps included that came to nothing, as where an instance died in one. Where
 * the journal cannot be read it stays at what its steps have told.
 */
export async function bookedOf(
  { runs, hosted, log }: OrchestrationPorts,
  run: Run,
): Promise<Pick<Run, 'spent' | 'worked'>> {
  try {
    const attempts = (await runs.calls(run.id)).map((entry) => bookingOf(entry, hosted()));
    return { spent: spentOn(attempts), worked: workedOn(attempts) };
  } catch (error) {
    log.warn('run_not_booked', { runId: run.id, error });
    return { spent: run.spent, ...(run.worked && { worked: run.worked }) };
  }
}
