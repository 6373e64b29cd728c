/** Writes what one watch notices into the log: first what was missed, then each change, in batches. */
import { connectionError, type MusterError } from '../../../kernel/errors.ts';
import { type JsonValue, utf8Length } from '../../../kernel/json.ts';
import { pause, within } from '../../../kernel/waiting.ts';
import type { Change } from './databaseAccess.ts';
import { sizeLimitExceeded } from './dataErrors.ts';
import { isCheckpointDue, MAX_ENTRY_TRANSITIONS, outdated, Pending } from './eventLog.ts';
import { type Replayed, sizeOf } from './page.ts';
import type { Entry, EntrySize, FirebasePorts } from './ports.ts';
import { type EventType, MAX_CHILDREN_BYTES, MAX_VALUE_BYTES } from './subscription.ts';
import { apply, differences, type Transition, transitionOf } from './transition.ts';

/** The first change is logged at once, and further ones together after so long. */
const BATCH_MILLISECONDS = 100;

/** Whoever cannot write for so long has lost the database, and somebody else may write on. */
const APPEND_MILLISECONDS = 10_000;

interface Recorded {
  readonly log: string;
  readonly eventType: EventType;
  /** Names the watch in the entries that it writes. */
  readonly writer: string;
}

/** One of them is called, once, and then nothing is recorded any more. */
export interface RecorderEnd {
  /** Somebody else has written on: what this watch knows is no longer what the log says. */
  overtaken(): void;
  failed(error: unknown): void;
}

export class Recorder {
  private readonly ports: FirebasePorts;
  private readonly recorded: Recorded;
  private readonly end: RecorderEnd;
  /** How the path is. */
  private readonly state: Map<string, string>;
  /** How the path is according to the log: without what is pending. */
  private readonly loggedState: Map<string, string>;
  private readonly pending = new Pending();
  private kept: readonly EntrySize[];
  private sequence: number;
  private covered: number;
  private bytes = 0;
  private isBegun = false;
  private isEnded = false;
  private isWriting = false;
  private isAppending = false;
  private waiting: (() => void)[] = [];

  constructor(ports: FirebasePorts, recorded: Recorded, log: Replayed, end: RecorderEnd) {
    this.ports = ports;
    this.recorded = recorded;
    this.end = end;
    this.state = new Map(log.state);
    this.loggedState = new Map(log.state);
    this.kept = log.kept;
    this.sequence = log.sequence;
    this.covered = log.covered;
    for (const text of log.state.values()) this.bytes += utf8Length(text);
  }

  /** What is there when the watch begins. */
  begin(data: ReadonlyMap<string, JsonValue>): void {
    this.isBegun = true;
    for (const missed of differences(this.recorded.eventType, this.state, data, this.now()))
      this.note(missed);
    this.write();
  }

  changed(changes: readonly Change[]): void {
    for (const change of changes) {
      const transition = transitionOf(this.recorded.eventType, this.state, change, this.now());
      if (transition !== undefined) this.note(transition);
    }
    this.write();
  }

  /** An entry that somebody has read. One may have nothing to write for long while somebody else has. */
  seen({ sequence, writer }: Entry): void {
    if (sequence > this.sequence && writer !== this.recorded.writer) this.finish(() => this.end.overtaken());
  }

  /** Resolves as soon as all that was noticed is logged, or nothing will be any more. */
  caughtUp(): Promise<void> {
    if (this.isEnded || this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  stop(): void {
    this.isEnded = true;
    this.tellWaiting();
  }

  private isIdle(): boolean {
    return this.isBegun && !this.isAppending && this.pending.size === 0;
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }

  private note(transition: Transition): void {
    const { key } = transition;
    this.bytes -= utf8Length(this.state.get(key) ?? '');
    apply(this.recorded.eventType, this.state, transition);
    this.bytes += utf8Length(this.state.get(key) ?? '');
    this.pending.add(transition);
  }

  private write(): void {
    if (this.isEnded) return;
    const tooLarge = sizeError(this.recorded.eventType, this.bytes);
    if (tooLarge !== undefined) this.finish(() => this.end.failed(tooLarge));
    else if (this.pending.size === 0) this.tellWaiting();
    else if (!this.isWriting) this.drain().catch((error) => this.finish(() => this.end.failed(error)));
  }

  private async drain(): Promise<void> {
    this.isWriting = true;
    while (!this.isEnded && this.pending.size > 0) {
      const next = pause(BATCH_MILLISECONDS);
      this.isAppending = true;
      await this.append(this.pending.take());
      this.isAppending = false;
      if (this.pending.size === 0) this.tellWaiting();
      if (this.pending.size < MAX_ENTRY_TRANSITIONS) await next;
    }
    this.isWriting = false;
  }

  private async append(transitions: readonly Transition[]): Promise<void> {
    const { events } = this.ports;
    const { log, eventType, writer } = this.recorded;
    const entry = { sequence: this.sequence + 1, writer, transitions };
    const appended = await within(APPEND_MILLISECONDS, events.append(log, entry), () =>
      connectionError(new Error('The event log cannot be written.')),
    );
    if (this.isEnded) return;
    if (!appended) return this.finish(() => this.end.overtaken());
    this.sequence = entry.sequence;
    for (const transition of transitions) apply(eventType, this.loggedState, transition);
    this.kept = [...this.kept, sizeOf(eventType, entry)];
    await this.tidy();
  }

  private async tidy(): Promise<void> {
    const { events, clock } = this.ports;
    const { log } = this.recorded;
    const isDue = isCheckpointDue(
      this.kept.filter(({ sequence }) => sequence > this.covered),
      this.bytes,
    );
    if (isDue) this.covered = this.sequence;
    const dropped = outdated(this.kept, this.covered, clock.now());
    this.kept = this.kept.slice(dropped.length);
    if (isDue) {
      await events.checkpoint(log, { sequence: this.sequence, state: this.loggedState, kept: this.kept });
    }
    if (dropped.length > 0) await events.drop(log, dropped);
  }

  private finish(tell: () => void): void {
    if (this.isEnded) return;
    this.stop();
    tell();
  }

  private tellWaiting(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** The error of a path that holds more than is watched. */
export function sizeError(eventType: EventType, bytes: number): MusterError | undefined {
  const most = eventType === 'value' ? MAX_VALUE_BYTES : MAX_CHILDREN_BYTES;
  if (bytes <= most) return undefined;
  return sizeLimitExceeded(
    'path',
    `What is watched may have ${most} bytes of JSON in all; there are ${bytes}.`,
    'Subscribe to a path further down.',
  );
}
