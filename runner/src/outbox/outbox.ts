/** Sends an attempt's log and its ending, in order, each once, for as long as the network may be away. */
import { setTimeout as delay } from 'node:timers/promises';
import { CredentialRefused, HubRefusal, HubUnreachable } from '../hub/connection.ts';
import type { Ending, Hub, LogEntry, Stop } from '../hub/hub.ts';
import type { Journal } from './journal.ts';

/** Lines that come together go together. */
const GATHER_MS = 1000;
const ENOUGH_BYTES = 128 * 1024;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;

export type WorkState = 'in_progress' | 'waiting';

export interface OutboxOptions {
  readonly hub: Pick<Hub, 'append' | 'heartbeat' | 'end'>;
  readonly taskId: string;
  readonly epoch: number;
  readonly journal: Journal;
  /** The longest silence towards the hub, in milliseconds. */
  readonly heartbeatMs: number;
  readonly say: (message: string) => void;
}

/** What became of an ending: the hub's word for it, or why it was not sent. */
export type Delivery =
  | { readonly delivered: true; readonly outcome: string }
  /** Where it was our credential that was refused, another runner may still send it. */
  | { readonly delivered: false; readonly refused?: CredentialRefused };

export class Outbox {
  private readonly options: OutboxOptions;
  private readonly stopping = new AbortController();
  private readonly abandoning = new AbortController();
  private readonly delivery: Promise<Delivery>;
  private ending: Ending | undefined;
  private stop: Stop | undefined;
  private state: WorkState | undefined;
  private lastContact = Date.now();
  private wake: () => void = () => undefined;

  constructor(options: OutboxOptions) {
    this.options = options;
    this.delivery = this.run();
  }

  /** Aborted when the hub wants the work to stop, or hears us no more. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Why the hub wants the work to stop, if it does. */
  get stopReason(): Stop | undefined {
    return this.stop;
  }

  append(entry: Omit<LogEntry, 'sequence'>): void {
    const { journal } = this.options;
    const first = journal.waiting === 0;
    journal.append(entry);
    if (first || journal.waiting >= ENOUGH_BYTES) this.wake();
  }

  /** Tells the hub with the next heartbeat, which comes at once. */
  moveTo(state: WorkState): void {
    this.state = state;
    this.wake();
  }

  /** Sends what is left of the log, then the ending. Resolves when the hub has it or does not want it. */
  finish(ending: Ending): Promise<Delivery> {
    this.ending = ending;
    this.wake();
    return this.delivery;
  }

  /** Gives up sending; what was not sent stays in the journal. */
  abandon(): void {
    this.abandoning.abort();
  }

  private async run(): Promise<Delivery> {
    let failures = 0;
    while (!this.abandoning.signal.aborted) {
      try {
        const delivery = await this.step();
        if (failures > 0) this.options.say('The hub answers again.');
        failures = 0;
        if (delivery) return delivery;
      } catch (error) {
        if (!(error instanceof HubUnreachable)) return this.refused(error);
        failures += 1;
        if (failures === 1) this.options.say(`The hub does not answer; the log is kept. ${error.message}`);
        const longest = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
        await rest(longest * (0.5 + Math.random() / 2), this.abandoning.signal);
      }
    }
    return { delivered: false };
  }

  /** Sends one thing, or waits for one. */
  private async step(): Promise<Delivery | undefined> {
    const { hub, taskId, epoch, journal } = this.options;
    const { ending, state } = this;
    const batch = journal.batch();
    if (batch !== undefined && this.isDue()) {
      this.heed(await hub.append(taskId, epoch, batch.entries));
      journal.settle(batch);
    } else if (ending !== undefined) {
      if (this.stop?.reason === 'claim_lost') return { delivered: false };
      return { delivered: true, outcome: await hub.end(taskId, epoch, ending) };
    } else if (state !== undefined || this.sinceContact() >= this.options.heartbeatMs) {
      this.heed(await hub.heartbeat(taskId, epoch, state));
      if (this.state === state) this.state = undefined;
    } else {
      await this.pause(this.untilDue());
      return undefined;
    }
    this.lastContact = Date.now();
    return undefined;
  }

  private isDue(): boolean {
    const { journal } = this.options;
    return this.ending !== undefined || journal.waiting >= ENOUGH_BYTES || this.sinceContact() >= GATHER_MS;
  }

  private untilDue(): number {
    const { journal, heartbeatMs } = this.options;
    return (journal.waiting > 0 ? GATHER_MS : heartbeatMs) - this.sinceContact();
  }

  private sinceContact(): number {
    return Date.now() - this.lastContact;
  }

  private heed(stop: Stop | undefined): void {
    if (stop === undefined) return;
    this.stop ??= stop;
    this.stopping.abort();
  }

  /** The hub will never take it: the task is not ours, or not there; or it takes nothing from us any more. */
  private async refused(error: unknown): Promise<Delivery> {
    if (error instanceof CredentialRefused) {
      this.stopping.abort();
      return { delivered: false, refused: error };
    }
    const message = error instanceof HubRefusal ? error.message : `unexpected: ${String(error)}`;
    this.options.say(`The hub refuses what belongs to ${this.options.taskId}. ${message}`);
    this.heed({ reason: 'claim_lost', message });
    return { delivered: false };
  }

  /** Waits, unless there is something to do earlier. */
  private async pause(milliseconds: number): Promise<void> {
    const waking = new AbortController();
    this.wake = () => waking.abort();
    await rest(milliseconds, AbortSignal.any([waking.signal, this.abandoning.signal]));
    this.wake = () => undefined;
  }
}

function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return delay(Math.max(milliseconds, 0), undefined, { signal }).catch(() => undefined);
}
