/** What coding tasks are read by and watched with. */
import type { CoordinationPorts } from '../coordination/ports.ts';
import type { CodingTaskReader, CodingWatch, TaskLogReader } from './readers.ts';

export interface CodingPorts extends CoordinationPorts {
  readonly codingTasks: CodingTaskReader;
  readonly taskLogs: TaskLogReader;
  readonly codingWatch: CodingWatch;
}
