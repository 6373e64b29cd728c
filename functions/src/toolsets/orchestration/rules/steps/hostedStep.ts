/** Executes a step whose agents are models behind a vendor's API. */
import { OutOfBudgetError } from '../../../../graph/rules/budget.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { capabilityFor, profileOf } from '../agents/profile.ts';
import type { AgentStatus } from '../agents/recommendation.ts';
import { agentStatusesOf, standIns } from '../agents/roster.ts';
import type { Budget } from '../calls/budget.ts';
import { type CallResult, call } from '../calls/calling.ts';
import type { StepJournal } from '../calls/journal.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { agentsOf } from '../workflows/definition.ts';
import type { DueStep } from '../workflows/progress.ts';
import { all, isValid, type ModeResult, merge, modeResult, type Question, race, reasonOf } from './ask.ts';
import { pick, seededChance, vote } from './judging.ts';
import { type BegunStep, type RunOfStep, type StepWork, spentOn } from './step.ts';

/** A step that is to be executed, and what its run gives it. */
export interface StepTask {
  readonly run: RunOfStep;
  readonly due: DueStep;
  readonly begun: BegunStep;
  readonly budget: Budget;
  readonly journal: StepJournal;
  /** Is told at once of an error that is not the step's own: what else goes on of the run is then called off. */
  readonly lease: { readonly stop: AbortSignal; giveUp(error: unknown): void };
  /** How many steps run at once, this one included. */
  readonly abreast: number;
  /** Whether its agents are asked one after the other. */
  readonly inTurn: boolean;
  /** Agents that are not asked in another's place, nor to judge. */
  readonly forbidden: readonly string[];
}

export class HostedStep {
  private readonly task: StepTask;
  private readonly ports: OrchestrationPorts;
  private readonly agentStatuses: readonly AgentStatus[];
  private readonly agents: readonly string[];
  private readonly calls: Promise<CallResult>[] = [];
  private readonly over = new AbortController();
  private readonly signal: AbortSignal;

  constructor(task: StepTask, ports: OrchestrationPorts) {
    this.task = task;
    this.ports = ports;
    this.signal = AbortSignal.any([task.lease.stop, this.over.signal]);
    this.agentStatuses = agentStatusesOf(ports.hosted()).filter(({ name }) => !task.forbidden.includes(name));
    this.agents = agentsOf(task.due.step);
  }

  /** Where a call rejects, the others are called off and waited for; where it waits for a budget, they go on and are noted. */
  async execute(): Promise<StepWork> {
    try {
      return this.workOf(await this.answers());
    } catch (error) {
      const isWaiting = error instanceof OutOfBudgetError;
      if (!isWaiting && !(error instanceof MusterError)) this.task.lease.giveUp(error);
      if (!isWaiting) this.over.abort();
      await Promise.allSettled(this.calls);
      throw error;
    }
  }

  private answers(): Promise<ModeResult> {
    const { due, run, begun } = this.task;
    const { prompt, candidates, step } = due;
    const { agents } = this;
    const ask = (question: Question) => this.ask(question);
    const chance = seededChance(this.ports.hashing, `${run.id} ${begun.id}`);
    const [agent = ''] = agents;
    if (candidates !== undefined)
      return pick({ judge: agent, prompt, contributions: candidates, ask, chance });
    if (agents.length === 1) return this.alone(agent);
    const round = { agents, prompt, ask };
    const available = this.agentStatuses.filter((one) => one.availability.available).map(({ name }) => name);
    switch (step.mode ?? 'all') {
      case 'race':
        return race(round);
      case 'vote': {
        const capability = (name: string) => capabilityFor(name, step.role);
        return vote({ ...round, chance, judges: available, capability });
      }
      case 'merge': {
        // Of those that can be asked the best at executing: putting together is writing.
        const strength = (name: string) => capabilityFor(name, 'execute');
        const [best = agent] = available.toSorted((left, right) => strength(right) - strength(left));
        return merge({ ...round, synthesiser: best });
      }
      case 'all':
        return all(round);
    }
  }

  private workOf(result: ModeResult): StepWork {
    const { answers, furtherCalls, output, winner, explanation, warnings, ballots, judged } = result;
    const { begun, journal, due } = this.task;
    const attempts = [...answers, ...furtherCalls].flatMap((made) => made.attempts);
    const noted = attempts.map((attempt) => journal.noted(attempt));
    const several = this.agents.length > 1;
    const results = answers.map((one) =>
      isValid(one)
        ? { agent: one.agent, output: one.answer.text }
        : { agent: one.agent, error: reasonOf(one) },
    );
    return {
      record: {
        ...begun,
        agents: winner === undefined ? this.agents : [winner],
        ...(output === undefined
          ? { status: 'failed', failure: failureOf(answers, explanation) }
          : { status: 'succeeded', output }),
        ...(several && { results }),
        attempts: [...journal.interrupted, ...journal.outdated, ...noted],
        spent: spentOn(journal.booked),
        ...(judged && { judged }),
        ...((several || due.candidates !== undefined) && { explanation: told(explanation, ballots) }),
        settled_at: this.ports.clock.now(),
      },
      warnings: warnings.map((warning) => `Step "${begun.name}": ${warning}`),
    };
  }

  /** One agent, and in its place those that suit the step best. */
  private async alone(agent: string): Promise<ModeResult> {
    const result = await this.ask({ key: 'answer', agent, prompt: this.task.due.prompt, replaceable: true });
    if (!isValid(result)) return modeResult([result], reasonOf(result));
    const { answer, agent: winner, warnings } = result;
    return modeResult([result], '', { output: answer.text, winner, warnings });
  }

  private ask({ replaceable, signal, ...question }: Question): Promise<CallResult> {
    const { run, due, budget, journal, abreast } = this.task;
    const { role, maxOutputTokens, retry, timeout, repeatable } = due.step;
    const others = replaceable ? standIns(question.agent, role, this.agentStatuses) : [];
    const hosted = this.ports.hosted();
    const candidates = [question.agent, ...others].flatMap((name) => {
      const agent = hosted.find((one) => one.name === name);
      const profile = profileOf(name);
      return agent && profile ? { agent, contextWindow: profile.capabilities.contextWindow } : [];
    });
    const request = {
      ...question,
      candidates,
      maxOutputTokens,
      attempts: retry.attempts,
      timeout,
      deadline: run.deadline,
      sharedBy: this.agents.length * abreast,
      repeatable,
      signal: signal ? AbortSignal.any([this.signal, signal]) : this.signal,
    };
    const asking = () => call(request, this.ports, { journal, budget });
    const before = this.task.inTurn ? this.calls.at(-1) : undefined;
    // After a call that has rejected no agent is asked: the whole step rejects.
    const made = before === undefined ? asking() : before.then(asking);
    this.calls.push(made);
    return made;
  }
}

function failureOf([only, ...others]: readonly CallResult[], message: string) {
  if (only?.kind !== 'failed' || others.length > 0) return { reason: 'NO_ANSWER', message };
  return { reason: only.end === 'over_budget' ? 'BUDGET_EXHAUSTED' : only.end.toUpperCase(), message };
}

/** How the output came about, with what each judge was shown. */
function told(explanation: string, ballots: ModeResult['ballots'] = []): string {
  const shown = ballots.map(({ judge, shown: order, ranking }) => {
    const letters = order.map(({ letter, agent }) => `${letter} = ${agent}`).join(', ');
    return `${judge} saw ${letters} and ranked ${ranking?.join(' > ') ?? 'nothing'}.`;
  });
  return [explanation, ...shown].join(' ');
}
