/** Reports of a runner to the hub. */
import type { Ending, LogEntry } from '../../src/hub/hub.ts';

export const COMPLETED: Ending = { status: 'completed', result: { summary: 'Done.' } };

export const logLine = (message: string): Omit<LogEntry, 'sequence'> => ({
  at: '2026-11-22T10:00:00Z',
  level: 'info',
  type: 'output',
  message,
});
