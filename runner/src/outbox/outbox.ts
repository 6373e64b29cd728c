/**
 * Sends an attempt's log entries and its ending in order, each exactly once, even after long network outages. Receives
 * messages for the coding agent.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CredentialRefused } from '../hub/connection.ts';
import type { Ending, Hearing, Hub, LogEntry, Message, Stop } from '../hub/hub.ts';
import { formsOf } from './endings.ts';
import { type Batch, type Journal, MAX_BATCH_ENTRIES } from './journal.ts';
import { classifyRefusal } from './refusal.ts';

/** Time for which log lines are collected into one call, in milliseconds. */
const GATHER_MS = 800;
const ENOUGH_BYTES = 128 * 1024;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;

/** Time for which one call waits at the hub for messages, in milliseconds. This is the hub's maximum. */
const LISTEN_MS = 25_000;

/** Other heartbeats are needed less often while such a call is open. It also renews the lease and returns stops. */
const LISTENING_FACTOR = 3;

export type WorkState = 'in_progress' | 'waiting';

export interface OutboxOptions {
  readonly hub: Pick<Hub, 'append' | 'heartbeat' | 'end'>;
  readonly taskId: string;
  readonly epoch: number;
  readonly journal: Journal;
  /** Maximum time between calls to the hub, in milliseconds. */
  readonly heartbeatMs: number;
  readonly say: (message: string) => void;
}

/** Result of sending an ending: the outcome that the hub stored, or the fact that the hub refused the ending. */
export type Delivery =
  | { readonly delivered: true; readonly outcome: string }
  /** Set if the credential was refused. Another runner may then still send the ending. */
  | { readonly delivered: false; readonly refused?: CredentialRefused };

export class Outbox {
  private readonly options: OutboxOptions;
  private readonly stopping = new AbortController();
  private readonly abandoning = new AbortController();
  private readonly silencing = new AbortController();
  /** Aborted when no more messages are wanted. */
  private readonly listening: AbortSignal;
  private readonly delivery: Promise<Delivery>;
  /** The ending and its shorter forms. The first one that the hub accepts ends the task. */
  private endings: readonly Ending[] | undefined;
  private stop: Stop | undefined;
  private state: WorkState | undefined;
  /** Changed paths that the hub does not know yet. */
  private files: readonly string[] | undefined;
  /** Whether the hub accepts changed paths. Hubs before 0.4.0 refuse the argument. */
  private acceptsFiles = true;
  /** Time of the last successful call, in milliseconds on a monotonic clock. */
  private lastContact = performance.now();
  /** Maximum entries per call. Reduced while the outbox searches for an entry that the hub rejects. */
  private batchEntries = MAX_BATCH_ENTRIES;
  /** Whether the hub accepts no log lines of this attempt, not even a placeholder. */
  private isMuted = false;
  private isListening = false;
  /** Printed messages about failures that can recur. Each message is printed only once. */
  private readonly reported = new Set<string>();
  private wake: () => void = () => undefined;

  constructor(options: OutboxOptions) {
    this.options = options;
    const ends = [this.silencing.signal, this.stopping.signal, this.abandoning.signal];
    this.listening = AbortSignal.any(ends);
    this.delivery = this.run();
  }

  /** Signal that is aborted when the hub wants the work to stop, or when it refuses the runner. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Reason for which the hub wants the work to stop; undefined if the work may continue. */
  get stopReason(): Stop | undefined {
    return this.stop;
  }

  append(entry: Omit<LogEntry, 'sequence'>): void {
    const { journal } = this.options;
    const first = journal.waiting === 0;
    if (!journal.append(entry))
      this.sayOnce(`The log of ${this.options.taskId} cannot be written to disk (${journal.reason}).`);
    if (first || journal.waiting >= ENOUGH_BYTES) this.wake();
  }

  /**
   * Receives messages until the attempt ends. A call that waits at the hub stays open, so a message arrives at once.
   * @param last id of the last message that the claim returned
   */
  async listen(hearing: Hearing, last: string | undefined, receive: (messages: readonly Message[]) => void) {
    const { hub, taskId, epoch, say } = this.options;
    let receivedUntil = last;
    while (!this.listening.aborted) {
      try {
        const beat = { hearing, receivedUntil, waitMs: LISTEN_MS };
        const { stop, messages } = await hub.heartbeat(taskId, epoch, beat, this.listening);
        this.isListening = true;
        this.heed(stop);
        receive(messages);
        receivedUntil = messages.at(-1)?.id ?? receivedUntil;
        await rest(FIRST_RETRY_MS, this.listening);
      } catch (error) {
        this.isListening = false;
        if (this.listening.aborted) return;
        if (classifyRefusal(error) !== 'passing') {
          say(`${taskId} receives no messages during its work. ${messageOf(error)}`);
          return;
        }
        await rest(LAST_RETRY_MS / 4, this.listening);
      }
    }
  }

  /** Sends an immediate heartbeat with the state of the work to the hub. */
  moveTo(state: WorkState): void {
    this.state = state;
    this.wake();
  }

  /** Sends an immediate heartbeat with the paths that the branch has changed, unless the hub is too old for it. */
  reportFiles(files: readonly string[]): void {
    if (!this.acceptsFiles) return;
    this.files = files;
    this.wake();
  }

  /** Sends the rest of the log, then the ending. Resolves when the hub has accepted or refused the ending. */
  finish(ending: Ending): Promise<Delivery> {
    this.options.journal.complete();
    this.silencing.abort();
    this.endings = formsOf(ending);
    this.wake();
    return this.delivery;
  }

  /** Stops sending. Unsent entries stay in the journal. */
  abandon(): void {
    this.abandoning.abort();
  }

  private async run(): Promise<Delivery> {
    let failures = 0;
    while (!this.abandoning.signal.aborted) {
      try {
        const delivery = await this.step();
        if (failures > 0) this.options.say('The hub responds again.');
        failures = 0;
        if (delivery) return delivery;
      } catch (error) {
        if (error instanceof CredentialRefused || classifyRefusal(error) === 'lost') return this.refused(error);
        failures += 1;
        if (failures === 1) this.options.say(`The hub does not respond. The log is kept on disk. ${messageOf(error)}`);
        const longest = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
        await rest(longest * (0.5 + Math.random() / 2), this.abandoning.signal);
      }
    }
    return { delivered: false };
  }

  /** Sends the next call that is due, or waits until a call is due. */
  private async step(): Promise<Delivery | undefined> {
    const { journal } = this.options;
    const { endings, state, files } = this;
    const batch = this.isMuted ? undefined : journal.batch(this.batchEntries);
    if (batch !== undefined && this.isDue()) {
      await this.sendLog(batch);
    } else if (endings !== undefined) {
      if (this.stop?.reason === 'claim_lost') return { delivered: false };
      const delivery = await this.sendEnding(endings);
      if (delivery !== undefined) return delivery;
    } else if (state !== undefined || files !== undefined || this.sinceContact() >= this.heartbeatMs) {
      await this.sendHeartbeat(state, files);
    } else {
      await this.pause(this.untilDue());
      return undefined;
    }
    this.lastContact = performance.now();
    return undefined;
  }

  /** Sends a batch. If the hub rejects it, halves the next batches until the rejected entry is found and replaced. */
  private async sendLog(batch: Batch): Promise<void> {
    const heard = batch.entries.flatMap(({ data }) => data?.message_id ?? []);
    const refused = await this.appends(batch.entries, heard);
    if (refused === undefined) {
      this.batchEntries = Math.min(2 * this.batchEntries, MAX_BATCH_ENTRIES);
    } else if (batch.entries.length > 1) {
      this.batchEntries = Math.ceil(batch.entries.length / 2);
      return;
    } else {
      const instead = batch.entries.map(unsendable);
      this.isMuted = (await this.appends(instead, [])) !== undefined;
      if (this.isMuted) this.options.say(`The log of ${this.options.taskId} cannot be sent. ${messageOf(refused)}`);
    }
    this.options.journal.settle(batch);
  }

  /** Sends entries. Returns the error if the hub rejects their content; undefined if the hub has stored them. */
  private async appends(entries: readonly LogEntry[], heard: readonly string[]): Promise<unknown> {
    const { hub, taskId, epoch } = this.options;
    try {
      this.heed(await hub.append(taskId, epoch, entries, heard));
      return undefined;
    } catch (error) {
      const meaning = classifyRefusal(error);
      if (meaning === 'accepted') return undefined;
      if (meaning === 'content') return error;
      throw error;
    }
  }

  private async sendHeartbeat(state: WorkState | undefined, files: readonly string[] | undefined): Promise<void> {
    const { hub, taskId, epoch } = this.options;
    try {
      this.heed((await hub.heartbeat(taskId, epoch, { state, files })).stop);
    } catch (error) {
      const meaning = classifyRefusal(error);
      if (meaning === 'content' && files !== undefined) {
        this.acceptsFiles = false;
        this.files = undefined;
        return;
      }
      // The claim may still be valid if the hub refuses a state, so the next heartbeat is sent without a state.
      if (meaning === 'passing' || (meaning === 'lost' && state === undefined)) throw error;
      this.sayOnce(`The hub refused a heartbeat for ${taskId}. ${messageOf(error)}`);
    }
    if (this.state === state) this.state = undefined;
    if (this.files === files) this.files = undefined;
  }

  /** Sends the first form of the ending. If the hub rejects it, keeps the shorter forms and returns undefined. */
  private async sendEnding([form, ...shorter]: readonly Ending[]): Promise<Delivery | undefined> {
    const { hub, taskId, epoch } = this.options;
    if (form === undefined) return { delivered: false };
    try {
      return { delivered: true, outcome: await hub.end(taskId, epoch, form) };
    } catch (error) {
      const meaning = classifyRefusal(error);
      if (meaning === 'accepted') return { delivered: true, outcome: 'accepted' };
      if (meaning !== 'content') throw error;
      this.sayOnce(`The hub did not accept the report of ${taskId}. ${messageOf(error)}`);
      this.endings = shorter;
      return undefined;
    }
  }

  private isDue(): boolean {
    const isSearching = this.batchEntries < MAX_BATCH_ENTRIES;
    if (this.endings !== undefined || isSearching) return true;
    return this.options.journal.waiting >= ENOUGH_BYTES || this.sinceContact() >= GATHER_MS;
  }

  private untilDue(): number {
    const { heartbeatMs } = this;
    const { journal } = this.options;
    return (journal.waiting > 0 && !this.isMuted ? GATHER_MS : heartbeatMs) - this.sinceContact();
  }

  private get heartbeatMs(): number {
    return this.options.heartbeatMs * (this.isListening ? LISTENING_FACTOR : 1);
  }

  private sinceContact(): number {
    return performance.now() - this.lastContact;
  }

  private heed(stop: Stop | undefined): void {
    if (stop === undefined) return;
    this.stop ??= stop;
    this.stopping.abort();
  }

  private sayOnce(message: string): void {
    if (!this.reported.has(message)) this.options.say(message);
    this.reported.add(message);
  }

  /** Stops the work because the hub refused a call, so the claim is lost or the credential is invalid. */
  private refused(error: unknown): Delivery {
    if (error instanceof CredentialRefused) {
      this.stopping.abort();
      return { delivered: false, refused: error };
    }
    const message = messageOf(error);
    this.options.say(`The hub refused updates for ${this.options.taskId}. ${message}`);
    this.heed({ reason: 'claim_lost', message });
    return { delivered: false };
  }

  /** Waits until a call is due or the outbox is woken. */
  private async pause(milliseconds: number): Promise<void> {
    const waking = new AbortController();
    this.wake = () => waking.abort();
    await rest(milliseconds, AbortSignal.any([waking.signal, this.abandoning.signal]));
    this.wake = () => undefined;
  }
}

function unsendable({ sequence }: LogEntry): LogEntry {
  const message = 'A log line is missing, because the hub did not accept it.';
  return { sequence, at: new Date().toISOString(), level: 'warn', type: 'system', message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return delay(Math.max(milliseconds, 0), undefined, { signal }).catch(() => undefined);
}
