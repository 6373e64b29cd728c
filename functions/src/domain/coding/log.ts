/** What a coding task reports while it runs, line by line. */
import type { JsonValue } from '../json.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_TYPES = ['system', 'agent', 'tool', 'command', 'output', 'git', 'acceptance'] as const;

export type LogType = (typeof LOG_TYPES)[number];

export interface LogEntry {
  readonly at: Date;
  readonly level: LogLevel;
  readonly type: LogType;
  /** Who or what says it: the name of a tool, a program, an agent. */
  readonly prefix?: string;
  readonly message: string;
  readonly data?: JsonValue;
}

/** An entry in its place: lines are counted from 0, over all attempts. */
export interface LogLine extends LogEntry {
  readonly line: number;
}

/** What a runner sends: `sequence` grows within its attempt, so that what is sent again is known. */
export interface NumberedEntry extends LogEntry {
  readonly sequence: number;
}
