/** Pages of events that readers of a log receive. */
import type { Caller } from '../../../identity/rules/principal.ts';
import { byteLength, MAX_LISTED_BYTES } from '../../../kernel/json.ts';
import type { Entry, EntrySize, EventLog, LoadedLog } from './ports.ts';
import {
  cursorOf,
  type DataEvent,
  type EventPosition,
  type EventType,
  type LoggedEvent,
  type Subscription,
} from './subscription.ts';
import { apply, eventOf, isEvent, type Transition } from './transition.ts';

const MAX_EVENTS = 100;

export type EventPage = ReturnType<PageBuilder['page']>;

export class PageBuilder {
  private readonly subscription: Subscription;
  private readonly events: LoggedEvent[] = [];
  private position: EventPosition;
  private overflow: boolean;
  private bytes = 0;
  private isOver = false;

  constructor(subscription: Subscription, from: EventPosition, overflow = false) {
    this.subscription = subscription;
    this.position = from;
    this.overflow = overflow;
  }

  get isFull(): boolean {
    return this.isOver || this.events.length >= MAX_EVENTS;
  }

  /** Adds the events of an entry that are after the position and fit in the page. Entries must be added in order. */
  add(entry: Entry): void {
    if (this.isFull || entry.sequence < this.position.sequence) return;
    if (entry.sequence > this.position.sequence) this.skipTo(entry.sequence);
    const { index } = this.position;
    if (entry.isAfterLoss && index === 0) this.overflow = true;
    for (const [at, transition] of entry.transitions.entries())
      if (at >= index && !this.addEvent(entry, at, transition)) return;
    if (this.position.sequence === entry.sequence) this.position = after(entry, Infinity, this.position.log);
  }

  /** Skips deleted entries. Entries are numbered without gaps, so each missing number belongs to a deleted entry. */
  skipTo(sequence: number): void {
    this.position = { ...this.position, sequence, index: 0 };
    this.overflow = true;
  }

  /** Adds the event of a transition. Returns false if the page is full. */
  private addEvent(entry: Entry, at: number, transition: Transition): boolean {
    if (this.isFull) return false;
    const { subscription_id, event_type } = this.subscription;
    const event = isEvent(event_type, transition) ? eventOf(subscription_id, event_type, transition) : undefined;
    if (event !== undefined && !this.reserveBytes(event)) return false;
    this.position = after(entry, at, this.position.log);
    if (event !== undefined) this.events.push({ cursor: cursorOf(this.position), event });
    return true;
  }

  /** Reserves space for the event. Returns false if the space is insufficient. The first event always fits. */
  private reserveBytes(event: DataEvent): boolean {
    this.bytes += byteLength(event);
    this.isOver = this.events.length > 0 && this.bytes > MAX_LISTED_BYTES;
    return !this.isOver;
  }

  page() {
    return { events: [...this.events], position: this.position, overflow: this.overflow };
  }
}

function after({ sequence, transitions }: Entry, index: number, log: string): EventPosition {
  const isLast = index + 1 >= transitions.length;
  return isLast ? { log, sequence: sequence + 1, index: 0 } : { log, sequence, index: index + 1 };
}

export function readingOf({ events, position, overflow }: EventPage): Reading {
  return { events, cursor: cursorOf(position), overflow };
}

/** Follows a log for one reader: first the existing entries after a position, then new ones. */
export class LogFollower {
  private entries: Entry[] = [];
  private error: { readonly thrown: unknown } | undefined;
  private wake: (() => void) | undefined;
  private isEnded = false;
  readonly close: () => void;

  constructor(events: EventLog, log: string, from: number, seen: (entry: Entry) => void) {
    const appended = (entry: Entry): void => {
      this.entries.push(entry);
      seen(entry);
      this.wake?.();
    };
    this.close = events.follow(log, from, appended, this.fail);
  }

  readonly fail = (error: unknown): void => {
    this.error ??= { thrown: error };
    this.wake?.();
  };

  /** Ends the current and each later wait. */
  readonly end = (): void => {
    this.isEnded = true;
    this.wake?.();
  };

  /** Returns the reader's new entries, or waits for the first one. Returns none if the wait was ended. */
  async next(): Promise<readonly Entry[]> {
    if (this.entries.length === 0 && this.error === undefined && !this.isEnded)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    if (this.entries.length === 0 && this.error !== undefined) throw this.error.thrown;
    return this.entries.splice(0);
  }
}

export interface ReadFrom {
  readonly subscriptionId: string;
  /** Cursor after which to read. Without a cursor, reading starts with the subscription's first event. */
  readonly cursor?: string | undefined;
}

export interface Reading {
  /** In the order of the log. */
  readonly events: readonly LoggedEvent[];
  readonly cursor: string;
  /** Whether events after the given cursor may be missing. The log keeps at most 1,000 events, for 24 hours. */
  readonly overflow: boolean;
}

export interface KnownSubscriptions {
  /** @throws MusterError NOT_FOUND if the caller has no such subscription */
  opened(caller: Caller, subscriptionId: string): Promise<Subscription>;
  isOpen(subscription: Subscription): Promise<boolean>;
}

/** Computes the state of the watched path from the log only, so that every instance computes the same state. */
export function replay(eventType: EventType, { checkpoint, entries }: LoadedLog) {
  const state = new Map(checkpoint.state);
  for (const { transitions } of entries) for (const transition of transitions) apply(eventType, state, transition);
  return {
    state,
    /** Number of the last entry; 0 in an empty log. */
    sequence: entries.at(-1)?.sequence ?? checkpoint.sequence,
    covered: checkpoint.sequence,
    kept: [...checkpoint.kept, ...entries.map((entry) => sizeOf(eventType, entry))],
  };
}

export type Replayed = ReturnType<typeof replay>;

/** Approximate size in bytes that a log entry has in addition to its JSON text. */
const ENTRY_BYTES = 200;

export function sizeOf(eventType: EventType, { sequence, transitions }: Entry): EntrySize {
  return {
    sequence,
    transitions: transitions.length,
    events: transitions.filter((transition) => isEvent(eventType, transition)).length,
    bytes: ENTRY_BYTES + byteLength(transitions),
    at: transitions.at(-1)?.at ?? 0,
  };
}
