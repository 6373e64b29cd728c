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
    return outcomesOfStep({ step, record, later, steps, isUsed: status === 'succeeded' });
  });
}

interface EndedStep {
  readonly step: Step;
  readonly record: StepRecord;
  readonly later: readonly StepRecord[];
  readonly steps: ReadonlyMap<string, Step>;
  readonly isUsed: boolean;
}

function outcomesOfStep(ended: EndedStep): readonly Outcome[] {
  // Only answers are judged: agents that judge a vote or merge answers get no outcome for this work.
  const key = ended.step.picks === undefined ? 'answer' : 'judge';
  const own = ended.record.attempts.filter(({ call }) => call === key || call.startsWith(`${key}:`));
  return [...new Set(own.map(({ agent }) => agent))].flatMap((agent) => {
    const attempts = own.filter((attempt) => attempt.agent === agent);
    return outcomesOfAgent(agent, attempts, ended);
  });
}

function outcomesOfAgent(agent: string, attempts: readonly Attempt[], ended: EndedStep): readonly Outcome[] {
  const { role: kind } = ended.record;
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
  if (wasSlower(agent, attempts, ended)) return outcome('lost', SLOW_WORTH);
  if (!hasAnswered(agent, measured, ended)) return measured.length === 0 ? [] : outcome('failed', 0);
  const judged = verdictOf(agent, ended);
  if (judged === 'undecided') return [];
  if (judged !== undefined) return outcome(judged.good ? 'accepted' : 'lost', judged.worth);
  return ended.isUsed ? outcome('accepted', 1) : [];
}

function hasAnswered(agent: string, measured: readonly Attempt[], { step, record }: EndedStep): boolean {
  const { status, agents, results, judged = false } = record;
  if (results !== undefined) return results.some((one) => one.agent === agent && one.output !== undefined);
  if (step.picks !== undefined) return judged && measured.some(({ end }) => end === 'answered');
  return status === 'succeeded' && agents.includes(agent);
}

/** Returns whether the agent's request was cancelled because another agent won the race. */
function wasSlower(agent: string, attempts: readonly Attempt[], { step, record }: EndedStep): boolean {
  if (step.mode !== 'race' || record.status !== 'succeeded' || record.agents.includes(agent)) return false;
  return attempts.at(-1)?.end === 'aborted';
}

function verdictOf(agent: string, ended: EndedStep): Verdict {
  const { step, record, later, steps } = ended;
  const { agents, results = [], judged = false, output = '' } = record;
  // Several answers without a verdict are undecided. A single answer needs no choice.
  const unjudged = results.filter((one) => one.output !== undefined).length > 1 ? 'undecided' : undefined;
  if (results.length < 2) {
    const reviews = reviewsOf(ended);
    return reviews.length === 0 ? undefined : verdict(!reviews.includes(false));
  }
  if (step.mode === 'race')
    return agents.includes(agent) ? { good: true, worth: 1 } : { good: false, worth: SLOW_WORTH };
  if (step.mode === 'vote') {
    const own = results.find((one) => one.agent === agent)?.output ?? '';
    return judged ? verdict(normalized(own) === normalized(output)) : unjudged;
  }
  const pick = later.find(({ name }) => steps.get(name)?.picks === step.name);
  if (pick?.status !== 'succeeded') return undefined;
  return pick.judged ? verdict(pick.agents.includes(agent)) : unjudged;
}

/** Returns the verdicts of the reviews between this step and the next execute step. */
function reviewsOf({ record, later, steps }: EndedStep): readonly boolean[] {
  if (record.role !== 'execute') return [];
  const next = later.findIndex(({ role, status }) => role === 'execute' && status === 'succeeded');
  const following = next === -1 ? later : later.slice(0, next);
  return following.flatMap(({ name, role, status, output = '' }) => {
    if (role !== 'review' || status !== 'succeeded' || steps.get(name)?.picks !== undefined) return [];
    const [first = ''] = output.trim().split('\n', 1);
    return VERDICTS.get(first.replace(/[*_#`.:\s]+/g, ' ').trim()) ?? [];
  });
}

function verdict(good: boolean): Verdict {
  return { good, worth: good ? 1 : 0 };
}
