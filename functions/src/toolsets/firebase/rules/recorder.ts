/** Writes the changes that a watch observes to the log in batches, starting with the changes that were missed. */
import { pause, withTimeoutError } from '../../../kernel/concurrency.ts';
import { connectionError, type MusterError } from '../../../kernel/errors.ts';
import { type JsonValue, utf8Length } from '../../../kernel/json.ts';
import type { Change } from './databaseAccess.ts';
import { sizeLimitExceeded } from './dataErrors.ts';
import { isCheckpointDue, MAX_ENTRY_TRANSITIONS, outdated, Pending } from './eventLog.ts';
import { type Replayed, sizeOf } from './page.ts';
import type { Entry, EntrySize, FirebasePorts } from './ports.ts';
import { type EventType, MAX_CHILDREN_BYTES, MAX_VALUE_BYTES } from './subscription.ts';
import { apply, differences, type Transition, transitionOf } from './transition.ts';

/** Time in milliseconds for which changes are collected after a write. The first change is written immediately. */
const BATCH_MS = 100;

/** Timeout of a write to the log. After it, the connection counts as lost, and another instance may write the log. */
const APPEND_TIMEOUT_MS = 10_000;

interface Recorded {
  readonly log: string;
  readonly eventType: EventType;
  readonly writer: string;
}

/** Exactly one of these functions is called, and only once. After this call, nothing is recorded. */
export interface RecorderEnd {
  /** Called if another watch has appended an entry, because the state known to this watch is outdated. */
  replaced(): void;
  failed(error: unknown): void;
}

export class Recorder {
  private readonly ports: FirebasePorts;
  private readonly recorded: Recorded;
  private readonly end: RecorderEnd;
  /** Includes transitions that are not in the log yet. */
  private readonly state: Map<string, string>;
  private readonly loggedState: Map<string, string>;
  private readonly pending = new Pending();
  private kept: readonly EntrySize[];
  private sequence: number;
  private covered: number;
  private bytes = 0;
  private isStarted = false;
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

  /** Records the initial data. Its differences from the log's state are changes that were missed. */
  start(data: ReadonlyMap<string, JsonValue>): void {
    this.isStarted = true;
    for (const missed of differences(this.recorded.eventType, this.state, data, this.ports.clock.now().getTime()))
      this.note(missed);
    this.write();
  }

  changed(changes: readonly Change[]): void {
    for (const change of changes) {
      const transition = transitionOf(this.recorded.eventType, this.state, change, this.ports.clock.now().getTime());
      if (transition !== undefined) this.note(transition);
    }
    this.write();
  }

  /** Called with each entry that a reader receives. An entry of another watch means that this watch was replaced. */
  seen({ sequence, writer }: Entry): void {
    if (sequence > this.sequence && writer !== this.recorded.writer) this.finish(() => this.end.replaced());
  }

  /** Resolves when the log contains all observed changes, or when recording ends. */
  caughtUp(): Promise<void> {
    const isIdle = this.isStarted && !this.isAppending && this.pending.size === 0;
    if (this.isEnded || isIdle) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  stop(): void {
    this.isEnded = true;
    this.resolveWaiting();
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
    else if (this.pending.size === 0) this.resolveWaiting();
    else if (!this.isWriting) this.drain().catch((error) => this.finish(() => this.end.failed(error)));
  }

  private async drain(): Promise<void> {
    this.isWriting = true;
    while (!this.isEnded && this.pending.size > 0) {
      const next = pause(BATCH_MS);
      this.isAppending = true;
      await this.append(this.pending.take());
      this.isAppending = false;
      if (this.pending.size === 0) this.resolveWaiting();
      if (this.pending.size < MAX_ENTRY_TRANSITIONS) await next;
    }
    this.isWriting = false;
  }

  private async append(transitions: readonly Transition[]): Promise<void> {
    const { events } = this.ports;
    const { log, eventType, writer } = this.recorded;
    const entry = { sequence: this.sequence + 1, writer, transitions };
    const appended = await withTimeoutError(APPEND_TIMEOUT_MS, events.append(log, entry), () =>
      connectionError(new Error('The event log could not be written.')),
    );
    if (this.isEnded) return;
    if (!appended) return this.finish(() => this.end.replaced());
    this.sequence = entry.sequence;
    for (const transition of transitions) apply(eventType, this.loggedState, transition);
    this.kept = [...this.kept, sizeOf(eventType, entry)];
    await this.trim();
  }

  private async trim(): Promise<void> {
    const { events, clock } = this.ports;
    const { log } = this.recorded;
    const isDue = isCheckpointDue(
      this.kept.filter(({ sequence }) => sequence > this.covered),
      this.bytes,
    );
    if (isDue) this.covered = this.sequence;
    const dropped = outdated(this.kept, this.covered, clock.now());
    this.kept = this.kept.slice(dropped.length);
    if (isDue) await events.checkpoint(log, { sequence: this.sequence, state: this.loggedState, kept: this.kept });
    if (dropped.length > 0) await events.drop(log, dropped);
  }

  private finish(tell: () => void): void {
    if (this.isEnded) return;
    this.stop();
    tell();
  }

  private resolveWaiting(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** Returns the error for watched data that is too large; undefined if the size is within the limit. */
export function sizeError(eventType: EventType, bytes: number): MusterError | undefined {
  const max = eventType === 'value' ? MAX_VALUE_BYTES : MAX_CHILDREN_BYTES;
  if (bytes <= max) return undefined;
  return sizeLimitExceeded(
    'path',
    `The watched data has ${bytes} bytes of JSON; the maximum is ${max}.`,
    'Subscribe to a deeper path.',
  );
}
