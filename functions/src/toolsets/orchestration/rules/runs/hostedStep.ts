/** Executes a step whose agents are models behind a vendor's API. */
import { MusterError } from '../../../../kernel/errors.ts';
import { capabilityFor, profileOf } from '../agents/profile.ts';
import type { AgentStatus } from '../agents/requirements.ts';
import { agentStatusesOf, standIns } from '../agents/selection.ts';
import type { Budget } from '../calls/budget.ts';
import { type CallResult, call } from '../calls/calling.ts';
import {
  all,
  isValid,
  type ModeResult,
  merge,
  modeResult,
  type Question,
  race,
  reasonOf,
} from '../modes/ask.ts';
import { pick, seededChance } from '../modes/judging.ts';
import { vote } from '../modes/vote.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { agentsOf } from '../workflows/definition.ts';
import type { DueStep } from '../workflows/progress.ts';
import type { StepJournal } from './journal.ts';
import type { RunLease } from './lease.ts';
import { type BegunStep, type Run, type StepWork, spentOn } from './run.ts';

/** A step that is to be executed, and what its run gives it. */
export interface StepTask {
  readonly run: Run;
  readonly due: DueStep;
  readonly begun: BegunStep;
  readonly budget: Budget;
  readonly journal: StepJournal;
  /** Is told at once of an error that is not the step's own: what else goes on of the run is then called off. */
  readonly lease: Pick<RunLease, 'stop' | 'giveUp'>;
  /** How many steps run at once, this one included. */
  readonly abreast: number;
  /** Whether its agents are asked one after the other. */
  readonly inTurn: boolean;
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
    this.agentStatuses = agentStatusesOf(ports.hosted());
    this.agents = agentsOf(task.due.step);
  }

  /** Where a call rejects, the others are called off and waited for, so that none goes on unheard. */
  async execute(): Promise<StepWork> {
    try {
      return this.workOf(await this.answers());
    } catch (error) {
      if (!(error instanceof MusterError)) this.task.lease.giveUp(error);
      this.over.abort();
      await Promise.allSettled(this.calls);
      throw error;
    }
  }

  private answers(): Promise<ModeResult> {
    const { due, run, begun } = this.task;
    const { signal } = this;
    const { prompt, candidates, step } = due;
    const ask = (question: Question): Promise<CallResult> => this.ask(question);
    const chance = seededChance(this.ports.hashing, `${run.id} ${begun.id}`);
    const [agent = ''] = this.agents;
    if (candidates !== undefined) {
      return pick({ judge: agent, prompt, contributions: candidates, ask, signal, chance });
    }
    if (this.agents.length === 1) return this.alone(agent);
    const round = { agents: this.agents, prompt, signal, ask };
    switch (step.mode ?? 'all') {
      case 'race':
        return race(round);
      case 'vote':
        return vote({
          ...round,
          chance,
          judges: this.available(),
          capability: (name) => capabilityFor(name, step.role),
        });
      case 'merge':
        return merge({ ...round, synthesiser: this.synthesiser() });
      case 'all':
        return all(round);
    }
  }

  private workOf({
    answers,
    furtherCalls,
    output,
    winner,
    explanation,
    warnings,
    ballots,
  }: ModeResult): StepWork {
    const { begun, journal, due } = this.task;
    const attempts = [...answers, ...furtherCalls].flatMap((result) => result.attempts);
    const noted = [
      ...journal.interrupted,
      ...journal.outdated,
      ...attempts.map((attempt) => journal.noted(attempt)),
    ];
    const several = this.agents.length > 1;
    return {
      record: {
        ...begun,
        agents: winner === undefined ? this.agents : [winner],
        status: output === undefined ? 'failed' : 'succeeded',
        ...(output === undefined ? { failure: failureOf(answers, explanation) } : { output }),
        ...(several && {
          results: answers.map((result) =>
            isValid(result)
              ? { agent: result.agent, output: result.answer.text }
              : { agent: result.agent, error: reasonOf(result) },
          ),
        }),
        attempts: noted,
        spent: spentOn(journal.booked),
        ...((several || due.candidates !== undefined) && { explanation: told(explanation, ballots) }),
        settledAt: this.ports.clock.now(),
      },
      warnings: warnings.map((warning) => `Step "${begun.name}": ${warning}`),
    };
  }

  /** One agent, and in its place those that suit the step best. */
  private async alone(agent: string): Promise<ModeResult> {
    const { prompt } = this.task.due;
    const { signal } = this;
    const result = await this.ask({ key: 'answer', agent, prompt, signal, replaceable: true });
    if (!isValid(result)) return modeResult([result], reasonOf(result));
    const { answer, agent: winner, warnings } = result;
    return modeResult([result], '', { output: answer.text, winner, warnings });
  }

  private ask({ replaceable, ...question }: Question): Promise<CallResult> {
    const { run, due, budget, journal, abreast } = this.task;
    const { role, maxOutputTokens, retry, timeout, repeatable } = due.step;
    const others = replaceable ? standIns(question.agent, role, this.agentStatuses) : [];
    const hosted = this.ports.hosted();
    const candidates = [question.agent, ...others].flatMap((name) => {
      const agent = hosted.find((one) => one.name === name);
      const contextWindow = profileOf(name)?.capabilities.contextWindow;
      return agent === undefined || contextWindow === undefined ? [] : [{ agent, contextWindow }];
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
    };
    const asking = () => call(request, this.ports, { journal, budget });
    const before = this.task.inTurn ? this.calls.at(-1) : undefined;
    // After a call that has rejected no agent is asked: the whole step rejects.
    const made = before === undefined ? asking() : before.then(asking);
    this.calls.push(made);
    return made;
  }

  private available(): readonly string[] {
    return this.agentStatuses.filter(({ availability }) => availability.available).map(({ name }) => name);
  }

  /** Of those that can be asked the best at executing: putting together is writing. */
  private synthesiser(): string {
    const [best, ...others] = this.available();
    const better = (left: string, right: string): string =>
      capabilityFor(right, 'execute') > capabilityFor(left, 'execute') ? right : left;
    return others.reduce(better, best ?? this.agents[0] ?? '');
  }
}

function failureOf(answers: readonly CallResult[], explanation: string): { reason: string; message: string } {
  const [only, ...others] = answers;
  const end = only?.kind === 'failed' && others.length === 0 ? only.end : undefined;
  const reason =
    end === undefined ? 'NO_ANSWER' : end === 'over_budget' ? 'BUDGET_EXHAUSTED' : end.toUpperCase();
  return { reason, message: explanation };
}

/** How the output came about, with what each judge was shown. */
function told(explanation: string, ballots: ModeResult['ballots'] = []): string {
  const shown = ballots.map(({ judge, shown: order, ranking }) => {
    const letters = order.map(({ letter, agent }) => `${letter} = ${agent}`).join(', ');
    return `${judge} saw ${letters} and ranked ${ranking?.join(' > ') ?? 'nothing'}.`;
  });
  return [explanation, ...shown].join(' ');
}
