/** What a reader gets of a log's entries. */
import { sentBytes } from '../size.ts';
import { cursorOf, type Position } from './cursor.ts';
import type { DataEvent, LoggedEvent } from './event.ts';
import type { Entry } from './log.ts';
import type { Reading } from './reading.ts';
import type { Subscription } from './subscription.ts';
import { eventOf, isEvent, type Transition } from './transition.ts';

const MAX_EVENTS = 100;
/** As an answer sends them: over MCP they may also come as notifications before it. */
const MAX_BYTES = 655_360;

export interface Page {
  readonly events: readonly LoggedEvent[];
  /** Where to go on. */
  readonly position: Position;
  readonly overflow: boolean;
}

/** A page that is not yet full. */
export class PageBuilder {
  private readonly subscription: Subscription;
  private readonly events: LoggedEvent[] = [];
  private position: Position;
  private overflow: boolean;
  private bytes = 0;
  private isOver = false;

  constructor(subscription: Subscription, from: Position, overflow = false) {
    this.subscription = subscription;
    this.position = from;
    this.overflow = overflow;
  }

  /** Whether there is something to answer. */
  get hasNews(): boolean {
    return this.events.length > 0 || this.overflow;
  }

  get isFull(): boolean {
    return this.isOver || this.events.length >= MAX_EVENTS;
  }

  /** Adds what of the entry lies after the position and has room. Entries come in order. */
  add(entry: Entry): void {
    if (this.isFull || entry.sequence < this.position.sequence) return;
    if (entry.sequence > this.position.sequence) this.skipTo(entry.sequence);
    const { index } = this.position;
    if (entry.isAfterLoss && index === 0) this.overflow = true;
    for (const [at, transition] of entry.transitions.entries()) {
      if (at >= index && !this.take(entry, at, transition)) return;
    }
    if (this.position.sequence === entry.sequence) this.position = after(entry, Infinity, this.position.log);
  }

  /** Goes on behind what was dropped: entries have no gaps, so what is missing was. */
  skipTo(sequence: number): void {
    this.position = { ...this.position, sequence, index: 0 };
    this.overflow = true;
  }

  /** Tells whether there was room for it. */
  private take(entry: Entry, at: number, transition: Transition): boolean {
    if (this.isFull) return false;
    const { subscriptionId, eventType } = this.subscription;
    const event = isEvent(eventType, transition) ? eventOf(subscriptionId, eventType, transition) : undefined;
    if (event !== undefined && !this.takesRoom(event)) return false;
    this.position = after(entry, at, this.position.log);
    if (event !== undefined) this.events.push({ cursor: cursorOf(this.position), event });
    return true;
  }

  /** One event has room, however large it is. */
  private takesRoom(event: DataEvent): boolean {
    this.bytes += sentBytes(JSON.stringify(event));
    this.isOver = this.events.length > 0 && this.bytes > MAX_BYTES;
    return !this.isOver;
  }

  page(): Page {
    return { events: [...this.events], position: this.position, overflow: this.overflow };
  }
}

function after({ sequence, transitions }: Entry, index: number, log: string): Position {
  const isLast = index + 1 >= transitions.length;
  return isLast ? { log, sequence: sequence + 1, index: 0 } : { log, sequence, index: index + 1 };
}

export function readingOf({ events, position, overflow }: Page): Reading {
  return { events, cursor: cursorOf(position), overflow };
}
