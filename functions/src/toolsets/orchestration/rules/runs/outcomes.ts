/**
 * Computes the outcome of each agent's work in a run, from which the selection of agents learns. Outcomes are counted
 * when the run ends, because only then it is known which answers were used. Source: docs/semantics.md#orchestration.
 */
import type { Outcome } from '../agents/scoring.ts';
import { type Attempt, isMeasured } from '../calls/attempt.ts';
import { normalized } from '../steps/judging.ts';
import type { StepRecord } from '../steps/step.ts';
import { allSteps, type Step, type Workflow } from '../workflows/definition.ts';
import type { Run } from './run.ts';

/** Factor for the value of an accepted answer that the agent gave only after a failed attempt. */
const RETRIED_WORTH = 0.75;

/** Value of an answer that lost a race: it was later, but may be equally good. */
const SLOW_WORTH = 0.5;

/** Possible first lines of a review in the built-in workflows. True means that the review accepts the work. */
const VERDICTS: ReadonlyMap<string, boolean> = new Map([
  ['APPROVED', true],
  ['NO FINDINGS', true],
  ['CHANGES', false],
  ['FINDINGS', false],
]);

/** Undefined if no one judged the answer; `undecided` if judges compared several answers without choosing one. */
type Verdict = { readonly good: boolean; readonly worth: number } | 'undecided' | undefined;

/** Returns the outcomes of the agents in a run's steps. */
export function outcomesOfRun(
  workflow: Workflow,
  records: readonly StepRecord[],
  status: Run['status'],
): readonly Outcome[] {
  if (status === 'cancelled') return [];
  const steps = new Map(allSteps(workflow).map((step) => [step.name, step]));
  const inOrder = records.toSorted((left, right) => left.number - right.number);
  return inOrder.flatMap((record, index) => {
    const step = steps.get(record.name);
    if (step === undefined || record.task_id !== undefined) return [];
    const later = inOrder.slice(index + 1);
    return new StepOutcomes({ step, record, later, steps, isUsed: status === 'succeeded' }).all();
  });
}

interface EndedStep {
  readonly step: Step;
  readonly record: StepRecord;
  readonly later: readonly StepRecord[];
  readonly steps: ReadonlyMap<string, Step>;
  readonly isUsed: boolean;
}

class StepOutcomes {
  private readonly ended: EndedStep;

  constructor(ended: EndedStep) {
    this.ended = ended;
  }

  all(): readonly Outcome[] {
    const { attempts } = this.ended.record;
    // Only answers are judged: agents that judge a vote or merge answers get no outcome for this work.
    const key = this.ended.step.picks === undefined ? 'answer' : 'judge';
    const own = attempts.filter(({ call }) => call === key || call.startsWith(`${key}:`));
    return [...new Set(own.map(({ agent }) => agent))].flatMap((agent) =>
      this.of(
        agent,
        own.filter((attempt) => attempt.agent === agent),
      ),
    );
  }

  private of(agent: string, attempts: readonly Attempt[]): readonly Outcome[] {
    const { role: kind } = this.ended.record;
    const measured = attempts.filter(isMeasured);
    const failures = measured.filter(({ end }) => end !== 'answered');
    const spent = {
      milliseconds: attempts.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
      cost_usd: attempts.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
      ...(attempts.some(({ unpriced_tokens: tokens = 0 }) => tokens > 0) && { unpriced: 1 }),
    };
    const outcome = (end: 'accepted' | 'failed' | 'lost', worth: number): readonly Outcome[] => {
      const retried = end === 'accepted' && failures.length > 0 ? 1 : 0;
      const counted = { accepted: 0, failed: 0, lost: 0, [end]: 1, retried };
      return [{ agent, kind, ...counted, worth: retried ? worth * RETRIED_WORTH : worth, ...spent }];
    };
    if (this.wasSlower(agent, attempts)) return outcome('lost', SLOW_WORTH);
    if (!this.hasAnswered(agent, measured)) return measured.length === 0 ? [] : outcome('failed', 0);
    const judged = this.verdictOf(agent);
    if (judged === 'undecided') return [];
    if (judged !== undefined) return outcome(judged.good ? 'accepted' : 'lost', judged.worth);
    return this.ended.isUsed ? outcome('accepted', 1) : [];
  }

  private hasAnswered(agent: string, measured: readonly Attempt[]): boolean {
    const { status, agents, results, judged = false } = this.ended.record;
    if (results !== undefined) return results.some((one) => one.agent === agent && one.output !== undefined);
    if (this.ended.step.picks !== undefined) return judged && measured.some(({ end }) => end === 'answered');
    return status === 'succeeded' && agents.includes(agent);
  }

  /** Returns whether the agent's request was cancelled because another agent won the race. */
  private wasSlower(agent: string, attempts: readonly Attempt[]): boolean {
    const { status, agents } = this.ended.record;
    if (this.ended.step.mode !== 'race' || status !== 'succeeded' || agents.includes(agent)) return false;
    return attempts.at(-1)?.end === 'aborted';
  }

  private verdictOf(agent: string): Verdict {
    const { agents, results = [], judged = false, output = '' } = this.ended.record;
    const isSeveral = results.length > 1;
    if (isSeveral && this.ended.step.mode === 'race')
      return agents.includes(agent) ? { good: true, worth: 1 } : { good: false, worth: SLOW_WORTH };
    if (isSeveral && this.ended.step.mode === 'vote') {
      const own = results.find((one) => one.agent === agent)?.output ?? '';
      return judged ? verdict(normalized(own) === normalized(output)) : this.unjudged();
    }
    if (isSeveral) {
      const pick = this.ended.later.find(({ name }) => this.ended.steps.get(name)?.picks === this.ended.step.name);
      if (pick?.status !== 'succeeded') return undefined;
      return pick.judged ? verdict(pick.agents.includes(agent)) : this.unjudged();
    }
    const reviews = this.reviews();
    return reviews.length === 0 ? undefined : verdict(!reviews.includes(false));
  }

  /** Several answers without a verdict are undecided. A single answer needs no choice. */
  private unjudged(): Verdict {
    const answered = this.ended.record.results?.filter(({ output }) => output !== undefined) ?? [];
    return answered.length > 1 ? 'undecided' : undefined;
  }

  /** Returns the verdicts of the reviews between this step and the next execute step. */
  private reviews(): readonly boolean[] {
    if (this.ended.record.role !== 'execute') return [];
    const next = this.ended.later.findIndex(({ role, status }) => role === 'execute' && status === 'succeeded');
    const following = next === -1 ? this.ended.later : this.ended.later.slice(0, next);
    return following.flatMap(({ name, role, status, output = '' }) => {
      if (role !== 'review' || status !== 'succeeded' || this.ended.steps.get(name)?.picks !== undefined) return [];
      const [first = ''] = output.trim().split('\n', 1);
      const verdict = VERDICTS.get(first.replace(/[*_#`.:\s]+/g, ' ').trim());
      return verdict === undefined ? [] : [verdict];
    });
  }
}

function verdict(good: boolean): Verdict {
  return { good, worth: good ? 1 : 0 };
}
