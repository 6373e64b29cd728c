/** Closing a task whose result is there although nobody reports it: its pull request was merged. */
import type { CoordinationPorts } from '../coordination/ports.ts';
import { taskNotFound } from '../missing.ts';
import { retryStale } from '../retry.ts';
import { settlementChanges } from './changes.ts';
import { finishTask, type Settlement } from './machine.ts';
import type { TaskResult } from './task.ts';

export class TaskFinishing {
  private readonly ports: CoordinationPorts;

  constructor(ports: CoordinationPorts) {
    this.ports = ports;
  }

  /**
   * Closes the task as done for whoever holds it, if anybody does. A closed one stays as it is.
   * @throws MusterError NOT_FOUND
   */
  finish(taskId: string, result: TaskResult): Promise<Settlement> {
    const { tasks, sessions, store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await tasks.find(taskId);
      if (found === undefined) throw taskNotFound(taskId);
      const { value: before, version } = found;
      const now = clock.now();
      const settlement = finishTask(before, result, now);
      if (settlement.kind === 'repeated') return settlement;
      const changes = settlementChanges(before, settlement, version, now);
      const { workspace, session, dependents } = before;
      const open = dependents.length === 0 ? undefined : await sessions.current(workspace);
      if (open?.session.id === session) {
        changes.push({ kind: 'queueGrew', workspace, session, capabilityKeys: [] });
      }
      await store.commit(changes);
      return settlement;
    });
  }
}
