/** In-memory subscriptions and their change logs. */
import { EventEmitter, once } from 'node:events';
import type { Caller } from '../../functions/src/identity/rules/principal.ts';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import type { JsonValue } from '../../functions/src/kernel/json.ts';
import type { EventReader } from '../../functions/src/toolsets/firebase/rules/logReader.ts';
import type { ReadFrom, Reading } from '../../functions/src/toolsets/firebase/rules/page.ts';
import type { LoggedEvent } from '../../functions/src/toolsets/firebase/rules/subscription.ts';

const PAGE = 2;

interface Log {
  /** All events since the start. The cursor of a position is the number of events before it. */
  readonly events: LoggedEvent[];
  /** Number of events that were dropped from the start of the log. */
  dropped: number;
}

export class MemoryEventLog implements EventReader {
  /** Number of `follow` calls in progress. */
  following = 0;
  /** Number of `poll` calls so far. */
  polled = 0;
  private readonly logs = new Map<string, Log>();
  private readonly changes = new EventEmitter().setMaxListeners(0);

  begin(uid: string, subscriptionId: string): void {
    this.logs.set(keyOf(uid, subscriptionId), { events: [], dropped: 0 });
  }

  add(uid: string, subscriptionId: string, ...data: readonly JsonValue[]): void {
    const { events } = this.log(uid, subscriptionId);
    for (const one of data) {
      const timestamp = new Date('2025-11-03T10:40:00Z');
      const event = { subscriptionId, eventType: 'child_added', data: one, key: 'k', timestamp } as const;
      events.push({ cursor: String(events.length + 1), event });
    }
    this.changes.emit('change');
  }

  drop(uid: string, subscriptionId: string, count: number): void {
    this.log(uid, subscriptionId).dropped = count;
  }

  end(uid: string, subscriptionId: string): void {
    this.logs.delete(keyOf(uid, subscriptionId));
    this.changes.emit('change');
  }

  async poll({ principal }: Caller, from: ReadFrom): Promise<Reading> {
    this.polled += 1;
    return this.read(principal.uid, from);
  }

  async *follow({ principal }: Caller, from: ReadFrom, missing: AbortSignal): AsyncGenerator<Reading> {
    this.following += 1;
    try {
      for (let { cursor } = from; !missing.aborted; ) {
        const reading = this.read(principal.uid, { ...from, cursor });
        cursor = reading.cursor;
        if (reading.events.length > 0 || reading.overflow) yield reading;
        else await once(this.changes, 'change', { signal: missing });
      }
    } catch (error) {
      if (!missing.aborted) throw error;
    } finally {
      this.following -= 1;
    }
  }

  private read(uid: string, { subscriptionId, cursor = '0' }: ReadFrom): Reading {
    const log = this.log(uid, subscriptionId);
    if (!/^\d{1,9}$/.test(cursor))
      throw new MusterError('INVALID_FORMAT', 'Invalid cursor for this subscription.', { field: 'cursor' });
    const start = Math.max(Number(cursor), log.dropped);
    const events = log.events.slice(start, start + PAGE);
    return { events, cursor: events.at(-1)?.cursor ?? String(start), overflow: start > Number(cursor) };
  }

  private log(uid: string, subscriptionId: string): Log {
    const log = this.logs.get(keyOf(uid, subscriptionId));
    if (log === undefined) throw new MusterError('NOT_FOUND', 'Subscription not found.');
    return log;
  }
}

function keyOf(uid: string, subscriptionId: string): string {
  return `${uid} ${subscriptionId}`;
}
