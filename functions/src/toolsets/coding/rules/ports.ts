/** What coding tasks are read by and watched with. */
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { TaskLogReader } from '../store/logs.ts';
import type { CodingTaskReader, CodingWatch } from '../store/tasks.ts';

export interface CodingPorts extends CoordinationPorts {
  readonly codingTasks: CodingTaskReader;
  readonly taskLogs: TaskLogReader;
  readonly codingWatch: CodingWatch;
}
