/** Sample tasks and sample lists in the form that the console uses. */
import { type Task, taskDocument } from '../../../console/src/live/documents.ts';
import { pagedOf } from '../../../console/src/live/paging.ts';
import type { Paged } from '../../../console/src/live/states.ts';
import { withTimes } from '../../stored/documents.ts';

export const NOW = new Date('2026-11-24T10:00:00Z');

export function task(more: object = {}): Task {
  const fields = {
    id: 't',
    workspace: 'default',
    session: 's',
    description: 'd',
    priority: 5,
    status: 'available',
    dependencies: [],
    dependents: [],
    blockers: 0,
    failed_dependencies: [],
    required_capabilities: [],
    created_at: NOW,
    created_by: 'a',
    claim_epoch: 0,
    lapsed_claims: [],
    retries: 0,
    retry_at: null,
    result: null,
    error: null,
    completed_at: null,
    late_result: null,
    context: { files: [] },
    claimed_by: null,
    claimed_at: null,
    lease_seconds: null,
    lease_expires_at: null,
    started_at: null,
    type: 'coordination',
    ...more,
  };
  return taskDocument.parse(withTimes(fields));
}

/** Fields of a task whose result another agent reviews. */
export const VERIFYING = {
  status: 'waiting',
  result: { output: 'It is done.' },
  acceptance: { command: 'npm test', review: 'any', rounds: 3, hours: 24, otherwise: 'ask', terminals: false },
  proof: {
    step: 'review',
    round: 1,
    agent_id: 'w',
    claim_epoch: 1,
    claimed_at: NOW,
    lease_seconds: 1800,
    since: NOW,
    check: 'task-9',
    branch: 'feature/auth',
    commit: 'abcdef1234567890',
    passed: [{ step: 'command', by: 'muster', at: NOW, commit: 'abcdef1234567890' }],
  },
  proof_until: new Date(NOW.getTime() + 24 * 3_600_000),
};

export const whole = <Row>(rows: readonly Row[]): Paged<Row> => listOf(rows, false, undefined);

/** Returns a truncated list of which only these rows are loaded. */
export function cut<Row>(rows: readonly Row[], counted?: number, more = (): void => undefined): Paged<Row> {
  return listOf(rows, true, counted, more);
}

function listOf<Row>(
  rows: readonly Row[],
  isTruncated: boolean,
  counted: number | undefined,
  more = (): void => undefined,
): Paged<Row> {
  return pagedOf({ state: 'live', value: { rows, unreadable: 0, isTruncated } }, counted, { more });
}

export function idsOf({ live }: Paged<{ readonly id: string }>): readonly string[] {
  return 'value' in live ? live.value.rows.map(({ id }) => id) : [];
}
