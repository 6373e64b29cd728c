/** States, in words as well as in colors. */
import type { Task } from '../live/documents.ts';
import { now } from '../live/time.ts';
import { duration } from './dates.ts';
import { leaseEnd } from './taskState.ts';

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
  open: 'open',
  lapsed: 'lapsed',
  red: 'checks failed',
  budget: 'budget spent',
};

/** Shape of each state, for people who cannot distinguish the colors. */
const MARKS: Readonly<Record<string, string>> = {
  available: '○',
  claimed: '◔',
  in_progress: '◑',
  running: '◑',
  waiting: '‖',
  pending: '○',
  done: '●',
  succeeded: '●',
  failed: '✕',
  cancelled: '⊘',
  never: '⊗',
  blocked: '◌',
  open: '○',
  lapsed: '◍',
  red: '✕',
  budget: '‖',
};

/** Returns the name that people see for a state. */
export function nameOf(state: string): string {
  return WORDS[state] ?? state;
}

export function Status({ of }: { readonly of: string }) {
  return (
    <span class={`status ${of}`}>
      <span aria-hidden="true">{MARKS[of] ?? '·'}</span> {nameOf(of)}
    </span>
  );
}

/** Shows the remaining time of a lease. It counts down without any new data. */
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
