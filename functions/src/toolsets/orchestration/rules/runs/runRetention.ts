/** Runs that have ended long ago are removed, with their steps and their journal, unless something open refers to them. */
import { isPartOfOpenWork } from '../../../../graph/rules/linking.ts';
import { StaleWriteError, type Versioned } from '../../../../kernel/commit.ts';
import type { Position } from '../../../../kernel/paging.ts';
import { Service } from '../../../../kernel/ports.ts';
import { type RetentionDays, retentionPart, type SweepPart, walk } from '../../../../kernel/sweep.ts';
import type { OrchestrationPorts } from '../ports.ts';
import type { Run } from './run.ts';

const BATCH = 100;

export class RunRetention extends Service<OrchestrationPorts & { readonly retention: RetentionDays }> {
  readonly part: SweepPart = retentionPart('runs kept', this.ports.retention.runs, async (before, turn) => {
    const counts = { removed: 0 };
    const old = (after: Position | undefined) => this.ports.runs.endedBefore(before, BATCH, after);
    const end = await walk(turn, old, async (run) => {
      const isGone = await this.remove(run);
      counts.removed += Number(isGone);
    });
    return { counts, ...end };
  });

  /** Never fails: one that cannot be removed must not keep the others. Tells whether it is gone. */
  private async remove({ value: run, version }: Versioned<Run>): Promise<boolean> {
    const { runs, store, log } = this.ports;
    try {
      if (await isPartOfOpenWork(this.ports, { kind: 'run', id: run.id }, run)) return false;
      await runs.forgetBelow(run.id);
      await store.commit([{ kind: 'removeRun', run, version }]);
      return true;
    } catch (error) {
      if (!(error instanceof StaleWriteError)) log.error('run_not_removed', { runId: run.id, error });
      return false;
    }
  }
}
