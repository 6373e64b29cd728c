/** Logs of coding tasks are removed a while after their tasks have ended. What the tasks have brought stays. */
import type { PortOf } from '../../../kernel/ports.ts';
import { Service } from '../../../kernel/ports.ts';
import { type RetentionDays, retentionPart, type SweepPart } from '../../../kernel/sweep.ts';
import { type CoordinationPorts, isClosed } from '../../coordination/index.ts';
import type { TaskLogQueries } from '../store/logs.ts';

interface LogRetentionPorts extends Pick<CoordinationPorts, 'tasks' | 'log'> {
  readonly taskLogs: PortOf<TaskLogQueries>;
  readonly retention: RetentionDays;
}

export class LogRetention extends Service<LogRetentionPorts> {
  readonly part: SweepPart = retentionPart('logs kept', this.ports.retention.logs, async (before, turn) => {
    const { taskLogs, log } = this.ports;
    let removed = 0;
    // A task has many chunks, and is looked at once.
    const seen = new Set<string>();
    for await (const taskId of taskLogs.tasksWithOldLogs(before)) {
      if (turn.isOver())
        return { counts: { removed }, isBehind: true, stoppedAt: { at: before, id: taskId } };
      if (seen.has(taskId)) continue;
      seen.add(taskId);
      try {
        if (await this.isOver(taskId, before)) removed += await taskLogs.forget(taskId);
      } catch (error) {
        log.error('log_not_removed', { taskId, error });
      }
    }
    return { counts: { removed }, isBehind: false };
  });

  /** A log may be written on as long as its task is open. */
  private async isOver(taskId: string, before: Date): Promise<boolean> {
    const task = (await this.ports.tasks.find(taskId))?.value;
    if (task === undefined) return true;
    return isClosed(task.status) && (task.closedAt === undefined || task.closedAt <= before);
  }
}
