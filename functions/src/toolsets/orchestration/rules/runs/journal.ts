/**
 * The journal of a run's calls: each attempt is written down before it is made, and again when it has ended. A step
 * that is executed again, because its instance died, is told what is settled, and only the rest is asked for.
 * Nothing else of a step is kept, so all that it does must follow from its input and from its calls' outcomes. What
 * was settled answers only the very same question: an attempt with another input is made.
 */
import { MusterError } from '../../../../kernel/errors.ts';
import { utf8Length } from '../../../../kernel/json.ts';
import type { Attempt, JournalEntry } from '../../store/runDocument.ts';
import type { AttemptIdentity, CompletedAttempt, PlannedAttempt } from '../calls/attempting.ts';
import { costOf, estimatedTokens, priceOf } from '../calls/budget.ts';
import type { OrchestrationPorts, Price } from '../ports.ts';

interface JournalScope {
  readonly runId: string;
  readonly step: string;
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
  private readonly interruptions: Attempt[];
  /** The entry that stands for each attempt that was begun here, by what it is an attempt at. */
  private readonly begun = new Map<string, JournalEntry>();
  private replayable: number;

  constructor(ports: OrchestrationPorts, scope: JournalScope, before: readonly JournalEntry[]) {
    this.ports = ports;
    this.scope = scope;
    for (const entry of [...before].sort((left, right) => left.repetition - right.repetition))
      this.entries.set(keyOf(entry), entry);
    this.replayable = [...this.entries.values()].filter(({ ending }) => ending !== undefined).length;
    this.interruptions = before
      .filter(({ ending }) => ending === undefined)
      .map((entry) => interrupted(entry, priceOf(ports.hosted(), entry.agent)));
  }

  /** The attempts that were under way when an instance died, booked as the most that they can have cost. */
  get interrupted(): readonly Attempt[] {
    return this.interruptions;
  }

  /** The attempts whose outcome was of no use, since the same attempt was made here with another input. */
  get outdated(): readonly Attempt[] {
    return [...this.entries.values()].flatMap((entry) => {
      const instead = this.begun.get(attemptKeyOf(entry));
      const isOutdated = instead !== undefined && instead.inputHash !== entry.inputHash;
      return isOutdated && entry.ending !== undefined ? [entry.ending.attempt] : [];
    });
  }

  /** All that is booked for this step. */
  get booked(): readonly Attempt[] {
    const ended = [...this.entries.values()].flatMap(({ ending }) => ending?.attempt ?? []);
    return [...ended, ...this.interruptions];
  }

  /** The attempt as it was noted, where it was: with what it cost when it was made. */
  noted(attempt: Attempt): Attempt {
    return this.begun.get(attemptKeyOf(attempt))?.ending?.attempt ?? attempt;
  }

  /**
   * Notes an attempt before its request is made.
   * @returns how this very attempt ended, where it was made before: it is then not made again, nor noted
   */
  async begin(planned: PlannedAttempt): Promise<CompletedAttempt | undefined> {
    const asked = { ...planned, inputHash: this.inputHashOf(planned) };
    const before = this.entries.get(keyOf(asked));
    if (before?.ending !== undefined) {
      this.replayable--;
      this.begun.set(attemptKeyOf(before), before);
      return before.ending.settled;
    }
    // What is settled is told first: it may make this attempt needless.
    if (this.replayable > 0) await new Promise((resolve) => setTimeout(resolve, 0));
    if (!this.scope.repeatable) this.requireNoneInDoubt(planned);
    this.scope.requireLease();
    const entry = this.entryOf(asked, before === undefined ? 0 : before.repetition + 1);
    await this.ports.store.commit([{ kind: 'startCall', runId: this.scope.runId, entry }]);
    this.begun.set(attemptKeyOf(entry), entry);
    return undefined;
  }

  /** Notes how an attempt ended. */
  async end(attempt: Attempt, settled: CompletedAttempt): Promise<void> {
    // The instance that takes the run over must not read that this attempt was called off.
    if (attempt.end === 'aborted') this.scope.requireLease();
    const entry = this.begun.get(attemptKeyOf(attempt));
    if (entry === undefined) throw new Error('An attempt ended that was never begun.');
    const ending = { at: this.ports.clock.now(), attempt, settled };
    const ended = { ...entry, ending };
    await this.ports.store.commit([{ kind: 'completeCall', runId: this.scope.runId, entry: ended }]);
    this.entries.set(keyOf(ended), ended);
    this.begun.set(attemptKeyOf(ended), ended);
  }

  /** @throws MusterError CONFLICT where an instance died in the middle of this attempt, whatever it asked then */
  private requireNoneInDoubt(planned: PlannedAttempt): void {
    const inDoubt = [...this.entries.values()].find(
      (entry) => entry.ending === undefined && attemptKeyOf(entry) === attemptKeyOf(planned),
    );
    if (inDoubt !== undefined) throw outcomeUnknown(inDoubt);
  }

  private inputHashOf({ prompt, system }: PlannedAttempt): string {
    return this.ports.hashing.sha256(JSON.stringify([system ?? null, prompt]));
  }

  private entryOf(asked: PlannedAttempt & { readonly inputHash: string }, repetition: number): JournalEntry {
    const { call, number, agent, model, waited, prompt, system, maxOutputTokens, inputHash } = asked;
    const { hashing, clock } = this.ports;
    const name = [this.scope.step, call, agent, number, inputHash, repetition];
    return {
      id: hashing.sha256(JSON.stringify(name)).slice(0, 20),
      step: this.scope.step,
      call,
      number,
      repetition,
      agent,
      model,
      inputHash,
      inputTokens: estimatedTokens(utf8Length(prompt) + utf8Length(system ?? '')),
      maxOutputTokens,
      waited,
      startedAt: clock.now(),
    };
  }
}

/** What it is an attempt at. */
function attemptKeyOf({ call, agent, number }: AttemptIdentity): string {
  return `${call}#${agent}#${number}`;
}

/** And with what input: the same attempt with another input is another call. */
function keyOf(entry: AttemptIdentity & { readonly inputHash: string }): string {
  return `${attemptKeyOf(entry)}#${entry.inputHash}`;
}

/** What is booked for a call: its cost, or the most that it can have cost where that is unknown. */
export function bookingOf(entry: JournalEntry, price: Price): Attempt {
  return entry.ending?.attempt ?? interrupted(entry, price);
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
