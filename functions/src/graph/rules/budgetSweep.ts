/** Settles the reservations of calls whose instance crashed. Their maximum cost counts as spent. */
import { StaleWriteError, type Store } from '../../kernel/commit.ts';
import { type Log, Service } from '../../kernel/ports.ts';
import { type SweepContext, type SweepJob, type SweepReport, sweepPages } from '../../kernel/sweep.ts';
import type { BudgetPorts, GraphChange } from './ports.ts';

const BATCH = 100;

interface Ports extends BudgetPorts {
  readonly store: Store<GraphChange>;
  readonly log: Log;
}

export class BudgetSweep extends Service<Ports> {
  readonly sweepJob: SweepJob = { name: 'reservations', run: (turn) => this.sweep(turn) };

  private async sweep(turn: SweepContext): Promise<SweepReport> {
    const { budgets, store, log } = this.ports;
    const counts = { settled: 0 };
    const due = (after: SweepContext['from']) => budgets.due(turn.now, BATCH, after);
    const end = await sweepPages(turn, due, async (reservation) => {
      try {
        await store.commit([{ kind: 'settle', reservation, spent: reservation.amount }]);
        counts.settled++;
      } catch (error) {
        // If the write is stale, the call has ended after the read and has settled its reservation itself.
        if (!(error instanceof StaleWriteError)) log.error('reservation_not_settled', { error, ...reservation });
      }
    });
    return { ...end, counts };
  }
}
