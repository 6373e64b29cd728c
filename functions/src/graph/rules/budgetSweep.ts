/** Settles the reservations of calls whose instance crashed. Their maximum cost counts as spent. */
import type { Store } from '../../kernel/commit.ts';
import { ignoreStale } from '../../kernel/concurrency.ts';
import { type Log, Service } from '../../kernel/ports.ts';
import { type SweepContext, type SweepJob, type SweepReport, sweepCounting } from '../../kernel/sweep.ts';
import type { BudgetPorts, GraphChange } from './ports.ts';

const BATCH = 100;

interface Ports extends BudgetPorts {
  readonly store: Store<GraphChange>;
  readonly log: Log;
}

export class BudgetSweep extends Service<Ports> {
  readonly sweepJob: SweepJob = { name: 'reservations', run: (turn) => this.sweep(turn) };

  private sweep(turn: SweepContext): Promise<SweepReport> {
    const { budgets, store, log } = this.ports;
    const due = (after: SweepContext['from']) => budgets.due(turn.now, BATCH, after);
    return sweepCounting(turn, 'settled', due, (reservation) => {
      const settling = store.commit([{ kind: 'settle', reservation, spent: reservation.amount }]);
      // If the write is stale, the call has ended after the read and has settled its reservation itself.
      return ignoreStale(settling).catch((error: unknown) => {
        log.error('reservation_not_settled', { error, ...reservation });
        return false;
      });
    });
  }
}
