/** What coding tasks are read by and watched with. */
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { CodingTaskReader, CodingWatch, TaskLogReader } from './log.ts';

export interface CodingPorts extends CoordinationPorts {
  readonly codingTasks: CodingTaskReader;
  readonly taskLogs: TaskLogReader;
  readonly codingWatch: CodingWatch;
}
