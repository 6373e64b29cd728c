/**
 * The journal of a run's calls: each attempt is written down before it is made, and again when it has ended. A step
 * that is executed again, because its instance died, is told what is settled, and only the rest is asked for.
 * Nothing else of a step is kept, so all that it does must follow from its input and from its calls' outcomes.
 */
import { MusterError } from '../../errors.ts';
import type { Clock, Hashing } from '../../ports.ts';
import { utf8Length } from '../../size.ts';
import type { Change, Store } from '../../store.ts';
import type { Attempt, AttemptJournal, PlannedAttempt, Settled } from '../calls/attempt.ts';
import { costOf, estimatedTokens } from '../calls/price.ts';
import type { Price } from '../ports.ts';
import type { JournalEnding, JournalEntry } from './journalEntry.ts';

export interface JournalDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly hashing: Hashing;
  /** Of the model behind an agent. */
  readonly priceOf: (agent: string) => Price;
}

export interface JournalScope {
  readonly runId: string;
  readonly step: string;
  /** Whether a call may be made again whose outcome nobody knows. */
  readonly repeatable: boolean;
  /** @throws LeaseLostError */
  readonly requireLease: () => void;
}

export class StepJournal implements AttemptJournal {
  private readonly dependencies: JournalDependencies;
  private readonly scope: JournalScope;
  /** The latest of each attempt's repetitions, by what it is an attempt at. */
  private readonly entries = new Map<string, JournalEntry>();
  private readonly interruptions: Attempt[];
  private readonly underWay = new Map<string, JournalEntry>();
  private replayable: number;

  constructor(dependencies: JournalDependencies, scope: JournalScope, before: readonly JournalEntry[]) {
    this.dependencies = dependencies;
    this.scope = scope;
    for (const entry of [...before].sort((left, right) => left.repetition - right.repetition))
      this.entries.set(keyOf(entry), entry);
    this.replayable = [...this.entries.values()].filter(({ ending }) => ending !== undefined).length;
    this.interruptions = before
      .filter(({ ending }) => ending === undefined)
      .map((entry) => interrupted(entry, dependencies.priceOf(entry.agent)));
  }

  /** The attempts that were under way when an instance died, booked as the most that they can have cost. */
  get interrupted(): readonly Attempt[] {
    return this.interruptions;
  }

  /** All that is booked for this step. */
  get booked(): readonly Attempt[] {
    const ended = [...this.entries.values()].flatMap(({ ending }) => ending?.attempt ?? []);
    return [...ended, ...this.interruptions];
  }

  /** The attempt as it was noted, where it was: with what it cost when it was made. */
  noted(attempt: Attempt): Attempt {
    return this.entries.get(keyOf(attempt))?.ending?.attempt ?? attempt;
  }

  async begin(planned: PlannedAttempt): Promise<Settled | undefined> {
    const before = this.entries.get(keyOf(planned));
    if (before?.ending !== undefined) {
      this.replayable--;
      return before.ending.settled;
    }
    // What is settled is told first: it may make this attempt needless.
    if (this.replayable > 0) await new Promise((resolve) => setTimeout(resolve, 0));
    if (before !== undefined && !this.scope.repeatable) throw outcomeUnknown(before);
    this.scope.requireLease();
    const entry = this.entryOf(planned, before === undefined ? 0 : before.repetition + 1);
    await this.write({ kind: 'startCall', runId: this.scope.runId, entry });
    this.underWay.set(keyOf(entry), entry);
    return undefined;
  }

  async end(attempt: Attempt, settled: Settled): Promise<void> {
    // Whoever takes the run over must not read that nobody wanted the answer.
    if (attempt.end === 'aborted') this.scope.requireLease();
    const entry = this.underWay.get(keyOf(attempt));
    if (entry === undefined) throw new Error('An attempt ended that was never begun.');
    const ending: JournalEnding = { at: this.dependencies.clock.now(), attempt, settled };
    const ended = { ...entry, ending };
    await this.write({ kind: 'settleCall', runId: this.scope.runId, entry: ended });
    this.entries.set(keyOf(entry), ended);
  }

  private entryOf(planned: PlannedAttempt, repetition: number): JournalEntry {
    const { call, number, agent, model, waited, prompt, system, maxOutputTokens } = planned;
    const { hashing, clock } = this.dependencies;
    const text = JSON.stringify([system ?? null, prompt]);
    return {
      id: hashing.sha256(JSON.stringify([this.scope.step, call, agent, number, repetition])).slice(0, 20),
      step: this.scope.step,
      call,
      number,
      repetition,
      agent,
      model,
      inputHash: hashing.sha256(text),
      inputTokens: estimatedTokens(utf8Length(prompt) + utf8Length(system ?? '')),
      maxOutputTokens,
      waited,
      startedAt: clock.now(),
    };
  }

  private write(change: Change): Promise<void> {
    return this.dependencies.store.commit([change]);
  }
}

function keyOf({ call, agent, number }: Pick<JournalEntry, 'call' | 'agent' | 'number'>): string {
  return `${call}#${agent}#${number}`;
}

function interrupted(entry: JournalEntry, price: Price): Attempt {
  const { call, number, agent, model, waited, inputTokens, maxOutputTokens } = entry;
  const usage = { inputTokens, outputTokens: maxOutputTokens };
  return {
    call,
    number,
    agent,
    model,
    waited,
    end: 'interrupted',
    reason: 'The instance that made this call ended before its answer. It may have been billed.',
    milliseconds: 0,
    usage,
    costUsd: costOf(usage, price),
    outcomeUnknown: true,
  };
}

function outcomeUnknown({ agent }: JournalEntry): MusterError {
  return new MusterError(
    'CONFLICT',
    `Nobody knows how a call of ${agent} ended: the instance that made it died. The step is not repeatable, so it was not made again.`,
    { reason: 'OUTCOME_UNKNOWN' },
  );
}
