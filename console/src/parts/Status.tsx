/** States, in words as well as in colours. */

import type { Task } from '../live/documents.ts';
import { duration, now } from '../live/time.ts';

const WORDS: Readonly<Record<string, string>> = {
  available: 'available',
  claimed: 'claimed',
  in_progress: 'in progress',
  waiting: 'waiting',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  pending: 'pending',
  running: 'running',
  succeeded: 'succeeded',
  never: 'will never start',
  blocked: 'blocked',
};

/** A shape for each state, for those to whom colours say nothing. */
const MARKS: Readonly<Record<string, string>> = {
  available: '○',
  claimed: '◔',
  in_progress: '◑',
  running: '◑',
  waiting: '⏸',
  pending: '○',
  done: '●',
  succeeded: '●',
  failed: '✕',
  cancelled: '⊘',
  never: '⊗',
  blocked: '◌',
};

export function Status({ of }: { readonly of: string }) {
  return (
    <span class={`status ${of}`}>
      <span aria-hidden="true">{MARKS[of] ?? '·'}</span> {WORDS[of] ?? of}
    </span>
  );
}

/** What a task's stored state means to a person: one that waits for others is not simply available. */
export function stateOf(task: Task): string {
  const isHeld = ['claimed', 'in_progress'].includes(task.status);
  if (isHeld && task.waiting_for !== null) return 'waiting';
  const isStuck = task.stuck || task.stuck_by !== null || task.failed_dependencies.length > 0;
  if (isStuck && task.status === 'available') return 'never';
  return task.status === 'available' && task.blockers > 0 ? 'blocked' : task.status;
}

/**
 * When a claim ends. The sweep makes the lease longer only once it finds it lapsed, so an agent that was seen since
 * holds longer than is stored. A runner's lease is what is stored.
 * @param lastSeen when the holder was last seen, in milliseconds of the epoch
 */
export function leaseEnd(task: Task, lastSeen: number | undefined): number | undefined {
  if (task.lease_expires_at === null || task.claimed_by === null) return undefined;
  const stored = task.lease_expires_at.getTime();
  if (task.claimed_by_runner || lastSeen === undefined) return stored;
  return Math.max(stored, lastSeen + (task.lease_seconds ?? 0) * 1000);
}

/** Counts down, without a write. */
export function Lease({ task, lastSeen }: { readonly task: Task; readonly lastSeen: number | undefined }) {
  const end = leaseEnd(task, lastSeen);
  if (end === undefined) return null;
  const left = end - now.value;
  const whole = (task.lease_seconds ?? 1) * 1000;
  const words = left > 0 ? `${duration(left)} left` : `lapsed ${duration(-left)} ago`;
  return (
    <span class={left > 0 ? 'lease' : 'lease lapsed'}>
      <meter min={0} max={1} value={Math.max(0, Math.min(1, left / whole))} aria-hidden="true" />
      {words}
    </span>
  );
}

export function Ago({ at }: { readonly at: Date }) {
  const past = now.value - at.getTime();
  return (
    <time dateTime={at.toISOString()} title={at.toLocaleString()}>
      {past < 0 ? `in ${duration(-past)}` : past < 5000 ? 'just now' : `${duration(past)} ago`}
    </time>
  );
}
