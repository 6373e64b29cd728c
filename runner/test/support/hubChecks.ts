/** The validation of the hub, for tests that run without a hub. */
import { argumentsChecker } from '../../../functions/src/mcp/validation.ts';
import { appendLogs, endTask } from '../../../functions/src/toolsets/coding/tools/work.ts';

import { HubRefusal } from '../../src/hub/connection.ts';
import type { Ending, LogEntry } from '../../src/hub/hub.ts';

/** Limits of functions/src/toolsets/coding/rules/runners.ts and ending.ts. */
const MAX_APPEND_BYTES = 256 * 1024;
const MAX_RESULT_BYTES = 1024 * 1024;
const CLAIM = { taskId: 'task-000abc-001', epoch: 1 };
const checkLogs = argumentsChecker(appendLogs.input);
const checkEnd = argumentsChecker(endTask.input);

/** @throws HubRefusal if append_logs would refuse the entries */
export function checkEntries(entries: readonly LogEntry[]): void {
  refusing('coding_append_logs', () => checkLogs(sent({ ...CLAIM, entries })));
  if (bytesOf(entries) > MAX_APPEND_BYTES)
    throw new HubRefusal('coding_append_logs', 'VALIDATION_ERROR', 'The entries are too large.');
}

/** @throws HubRefusal if end_task would refuse the ending */
export function checkEnding(ending: Ending): void {
  refusing('coding_end_task', () => checkEnd(sent({ ...CLAIM, ...ending })));
  if (bytesOf(ending.result) > MAX_RESULT_BYTES)
    throw new HubRefusal('coding_end_task', 'VALIDATION_ERROR', 'The result is too large.');
}

function refusing(tool: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw new HubRefusal(tool, 'VALIDATION_ERROR', error instanceof Error ? error.message : String(error));
  }
}

/** Converts the arguments to JSON and back, because the hub receives them as JSON. */
function sent(value: object): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value));
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
