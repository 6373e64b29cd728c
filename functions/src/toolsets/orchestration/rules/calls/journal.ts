/**
 * The journal of a run's calls: each attempt is written down before it is made, and again when it has ended. A step
 * that is executed again, because its instance died, is told what is settled, and only the rest is asked for.
 * Nothing else of a step is kept, so all that it does must follow from its input and from its calls' outcomes. What
 * was settled answers only the very same question: an attempt with another input is made.
 */
import type { Reservation } from '../../../../graph/rules/budget.ts';
import { StaleWriteError } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import type { HostedAgent } from '../agents/model.ts';
import type { Attempt } from '../calls/attempt.ts';
import type { OrchestrationChange, OrchestrationPorts } from '../ports.ts';
import type { CompletedAttempt, JournalEntry } from './attempt.ts';
import { costOf, estimatedTokens, priceOf } from './budget.ts';
import { reservationFor, settledAs } from './reserving.ts';

export interface PlannedAttempt
  extends Pick<JournalEntry, 'call' | 'number' | 'agent' | 'model' | 'waited' | 'max_output_tokens'> {
  readonly prompt: string;
  /** Milliseconds that it may take. */
  readonly time: number;
}

interface JournalScope {
  readonly runId: string;
  readonly step: string;
  /** Of all budgets that hold for the run. */
  readonly budgetKeys: readonly string[];
  /** Whether a call whose outcome is unknown may be made again. */
  readonly repeatable: boolean;
  /** @throws LeaseLostError */
  readonly requireLease: () => void;
}

export class StepJournal {
  private readonly ports: OrchestrationPorts;
  private readonly scope: JournalScope;
  /** The latest of each attempt's repetitions, by what it is an attempt at and what it asked. */
  private readonly entries = new Map<string, JournalEntry>();
  /** The attempts that were under way when an instance died, booked as the most that they can have cost. */
  readonly interrupted: readonly Attempt[];
  /** The entry that stands for each attempt that was begun here, by what it is an attempt at. */
  private readonly begun = new Map<string, JournalEntry>();
  /** What the calls that were begun here have reserved, by the ids of their entries. */
  private readonly reservations = new Map<string, Reservation>();
  private replayable: number;

  constructor(ports: OrchestrationPorts, scope: JournalScope, before: readonly JournalEntry[]) {
    this.ports = ports;
    this.scope = scope;
    for (const entry of before.toSorted((left, right) => left.repetition - right.repetition))
      this.entries.set(keyOf(entry), entry);
    this.replayable = [...this.entries.values()].filter(({ ending }) => ending).length;
    this.interrupted = before
      .filter(({ ending }) => ending === undefined)
      .map((entry) => bookingOf(entry, ports.hosted()));
  }

  /** The attempts whose outcome was of no use, since the same attempt was made here with another input. */
  get outdated(): readonly Attempt[] {
    return [...this.entries.values()].flatMap((entry) => {
      const instead = this.begun.get(attemptKeyOf(entry));
      const isOutdated = instead !== undefined && instead.input_hash !== entry.input_hash;
      return isOutdated && entry.ending !== undefined ? [entry.ending.attempt] : [];
    });
  }

  /** All that is booked for this step. */
  get booked(): readonly Attempt[] {
    const ended = [...this.entries.values()].flatMap(({ ending }) => ending?.attempt ?? []);
    return [...ended, ...this.interrupted];
  }

  /** The attempt as it was noted, where it was: with what it cost when it was made. */
  noted(attempt: Attempt): Attempt {
    return this.begun.get(attemptKeyOf(attempt))?.ending?.attempt ?? attempt;
  }

  /**
   * Notes an attempt before its request is made.
   * @returns how this very attempt ended, where it was made before: it is then not made again, nor noted; or the output
   * tokens that the budgets leave it, if those are fewer
   * @throws OutOfBudgetError where it does not fit into a budget that holds for the run
   */
  async begin({
    prompt,
    time,
    ...asked
  }: PlannedAttempt): Promise<CompletedAttempt | { readonly cutTo: number } | undefined> {
    const { hashing, clock, store, hosted } = this.ports;
    const { runId, step, repeatable, requireLease, budgetKeys } = this.scope;
    // In the place of null stood a system prompt, which no call has.
    const inputHash = hashing.sha256(JSON.stringify([null, prompt]));
    const before = this.entries.get(keyOf({ ...asked, input_hash: inputHash }));
    if (before?.ending !== undefined) {
      this.replayable--;
      this.begun.set(attemptKeyOf(before), before);
      return before.ending.settled;
    }
    // What is settled is told first: it may make this attempt needless.
    if (this.replayable > 0) await new Promise((resolve) => setTimeout(resolve, 0));
    if (!repeatable) this.requireNoneInDoubt(attemptKeyOf(asked));
    const repetition = before === undefined ? 0 : before.repetition + 1;
    const { call, number, agent } = asked;
    const name = JSON.stringify([step, call, agent, number, inputHash, repetition]);
    const id = hashing.sha256(name).slice(0, 20);
    const planned = {
      ...asked,
      id,
      step,
      repetition,
      input_hash: inputHash,
      input_tokens: estimatedTokens(prompt),
      started_at: clock.now(),
    };
    const beginning = { ...planned, runId, price: priceOf(hosted(), agent), time };
    const { reservation, maxOutputTokens } = await reservationFor(this.ports, budgetKeys, beginning);
    const entry = { ...planned, max_output_tokens: maxOutputTokens };
    requireLease();
    const started: OrchestrationChange = { kind: 'startCall', runId, entry };
    await store.commit(reservation === undefined ? [started] : [started, { kind: 'reserve', reservation }]);
    if (reservation !== undefined) this.reservations.set(id, reservation);
    this.begun.set(attemptKeyOf(entry), entry);
    return maxOutputTokens < asked.max_output_tokens ? { cutTo: maxOutputTokens } : undefined;
  }

  /** Notes how an attempt ended. */
  async end(attempt: Attempt, completed: CompletedAttempt): Promise<void> {
    const { runId, requireLease } = this.scope;
    // The instance that takes the run over must not read that this attempt was called off.
    if (attempt.end === 'aborted') requireLease();
    const begun = this.begun.get(attemptKeyOf(attempt));
    if (begun === undefined) throw new Error('An attempt ended that was never begun.');
    const entry = { ...begun, ending: { at: this.ports.clock.now(), attempt, settled: completed } };
    await this.complete({ kind: 'completeCall', runId, entry }, attempt);
    this.entries.set(keyOf(entry), entry);
    this.begun.set(attemptKeyOf(entry), entry);
  }

  /** With what it has cost, unless it took so long that it counts as the most already. */
  private async complete(
    change: Extract<OrchestrationChange, { readonly kind: 'completeCall' }>,
    { usage, cost_usd, outcome_unknown }: Attempt,
  ): Promise<void> {
    const { store } = this.ports;
    const reservation = this.reservations.get(change.entry.id);
    if (reservation === undefined) return store.commit([change]);
    const isUnknown = outcome_unknown && usage.input_tokens + usage.output_tokens === 0;
    const spent = settledAs(reservation, isUnknown ? undefined : { usage, cost_usd });
    try {
      await store.commit([change, { kind: 'settle', reservation, spent }]);
    } catch (error) {
      if (!(error instanceof StaleWriteError)) throw error;
      await store.commit([change]);
    }
  }

  /** @throws MusterError CONFLICT where an instance died in the middle of this attempt, whatever it asked then */
  private requireNoneInDoubt(key: string): void {
    for (const entry of this.entries.values()) {
      if (entry.ending !== undefined || attemptKeyOf(entry) !== key) continue;
      const message = `Nobody knows how a call of ${entry.agent} ended: the instance that made it died. The step is not repeatable, so it was not made again.`;
      throw new MusterError('CONFLICT', message, { reason: 'OUTCOME_UNKNOWN' });
    }
  }
}

/** What it is an attempt at. */
function attemptKeyOf({ call, agent, number }: Pick<Attempt, 'call' | 'agent' | 'number'>): string {
  return `${call}#${agent}#${number}`;
}

/** And with what input: the same attempt with another input is another call. */
function keyOf(entry: Pick<JournalEntry, 'call' | 'agent' | 'number' | 'input_hash'>): string {
  return `${attemptKeyOf(entry)}#${entry.input_hash}`;
}

/** What is booked for a call: its cost, or the most that it can have cost where that is unknown. */
export function bookingOf(entry: JournalEntry, hosted: readonly HostedAgent[]): Attempt {
  if (entry.ending !== undefined) return entry.ending.attempt;
  const { call, number, agent, model, waited, input_tokens, max_output_tokens } = entry;
  const identity = { call, number, agent, model, waited };
  const usage = { input_tokens, output_tokens: max_output_tokens };
  return {
    ...identity,
    usage,
    end: 'interrupted',
    reason: 'The instance that made this call ended before its answer. It may have been billed.',
    milliseconds: 0,
    cost_usd: costOf(usage, priceOf(hosted, agent)),
    outcome_unknown: true,
  };
}
