/** Remaining time of a lease. It counts down without any new data. */
import { agents } from '../../text/agents.ts';
import { common } from '../../text/common.ts';
import { duration, fill } from '../../ui/format.ts';
import { Meter } from '../../ui/Meter.tsx';
import { presenceNode, type Task, taskDocument } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import { presenceOf, task as taskQuery } from '../live/queries.ts';
import { document, node } from '../live/sources.ts';
import { now } from '../live/time.ts';
import { leaseEnd } from './taskState.ts';

/** Share of a lease below which its bar warns. */
const LOW = 0.2;

export interface LeaseState {
  /** Milliseconds until the end; negative after it. */
  readonly left: number;
  /** Share that is left, from 0 to 1. */
  readonly share: number;
  readonly end: Date;
}

/** Returns the lease of a task; undefined if no agent holds it. A heartbeat renews the lease before it is stored. */
export function useLease(task: Task | undefined): LeaseState | undefined {
  const isHeld = task !== undefined && ['claimed', 'in_progress', 'waiting'].includes(task.status);
  const holder = isHeld ? task.claimed_by : null;
  const presence = useLive(holder === null ? undefined : node(presenceOf(holder), presenceNode));
  const lastSeen = 'value' in presence ? presence.value?.last_seen : undefined;
  const end = task === undefined || holder === null ? undefined : leaseEnd(task, lastSeen);
  if (end === undefined) return undefined;
  const left = end - now.value;
  const whole = (task?.lease_seconds ?? 1) * 1000;
  return { left, share: Math.max(0, Math.min(1, left / whole)), end: new Date(end) };
}

export function Lease({ task }: { readonly task: Task }) {
  const lease = useLease(task);
  if (lease === undefined) return null;
  const { left, share } = lease;
  return (
    <span class={`nowrap num ${left > 0 ? 'soft' : 'bad'}`}>
      <Meter fine parts={[[left <= 0 ? 'bad' : share < LOW ? 'wait' : 'busy', share]]} />{' '}
      {left > 0 ? duration(left) : fill(common.expiredAgo, { time: duration(-left) })}
    </span>
  );
}

/** Lease of a task by its id, or that the task waits. */
export function HeldLease({ taskId }: { readonly taskId: string }) {
  const live = useLive(document(taskQuery(taskId), taskDocument));
  const task = 'value' in live ? live.value : undefined;
  if (task === undefined) return null;
  return task.waiting_for === null ? <Lease task={task} /> : <span class="wait">{agents.signs.waiting}</span>;
}
