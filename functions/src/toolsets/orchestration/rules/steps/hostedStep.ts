/** Executes a step whose agents are hosted models. */

import { BudgetExhaustedError } from '../../../../graph/rules/budget.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { Service } from '../../../../kernel/ports.ts';
import { type AgentRole, CAPABILITY_OF } from '../agents/profile.ts';
import { agentStatusesOf, fallbackAgents } from '../agents/roster.ts';
import type { RunBudget } from '../calls/budget.ts';
import { type CallResult, call } from '../calls/calling.ts';
import type { StepJournal } from '../calls/journal.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { agentsOf } from '../workflows/definition.ts';
import type { DueStep } from '../workflows/progress.ts';
import { all, isValid, type ModeResult, merge, modeResult, type Question, race, reasonOf } from './ask.ts';
import { pick, seededRandom, vote } from './judging.ts';
import { type RunOfStep, type StartedStep, type StepWork, usageOf } from './step.ts';

export interface StepTask {
  readonly run: RunOfStep;
  readonly due: DueStep;
  readonly startedStep: StartedStep;
  readonly budget: RunBudget;
  /** Providers that have refused the deployment's key or quota during the run. */
  readonly refusedProviders: Set<string>;
  readonly journal: StepJournal;
  /** `abandon` is called for errors that the step did not cause. It immediately stops all other steps of the run. */
  readonly lease: { readonly stop: AbortSignal; abandon(error: unknown): void };
  /** Number of steps that are executed concurrently, including this one. */
  readonly concurrentSteps: number;
  readonly sequentially: boolean;
  /** Agents that the workspace forbids. They may be neither fallback agents nor judges. */
  readonly forbidden: readonly string[];
}

export class HostedStep extends Service<OrchestrationPorts & { readonly task: StepTask }> {
  private readonly task = this.ports.task;
  private readonly agents = agentsOf(this.task.due.step);
  private readonly agentStatuses = agentStatusesOf(this.ports.hosted()).filter(
    ({ name }) => !this.task.forbidden.includes(name),
  );
  private readonly calls: Promise<CallResult>[] = [];
  private readonly isOver = new AbortController();
  private readonly signal = AbortSignal.any([this.task.lease.stop, this.isOver.signal]);

  /** Executes the step. If a call throws, the other calls are cancelled, unless that call only waits for a budget. */
  async execute(): Promise<StepWork> {
    try {
      return this.workOf(await this.answers());
    } catch (error) {
      const isWaiting = error instanceof BudgetExhaustedError;
      if (!isWaiting && !(error instanceof MusterError)) this.task.lease.abandon(error);
      if (!isWaiting) this.isOver.abort();
      await Promise.allSettled(this.calls);
      throw error;
    }
  }

  private answers(): Promise<ModeResult> {
    const { due, run, startedStep } = this.task;
    const { prompt, candidates, step } = due;
    const { agents } = this;
    const ask = (question: Question) => this.ask(question);
    const random = seededRandom(this.ports.hashing, `${run.id} ${startedStep.id}`);
    const [agent = ''] = agents;
    if (candidates !== undefined) return pick({ judge: agent, prompt, contributions: candidates, ask, random });
    if (agents.length === 1) return this.askSingle(agent);
    const round = { agents, prompt, ask };
    const available = this.agentStatuses.filter((one) => one.availability.available).map(({ name }) => name);
    switch (step.mode ?? 'all') {
      case 'race':
        return race(round);
      case 'vote': {
        const capability = (name: string) => this.capability(name, step.role);
        return vote({ ...round, random, judges: available, capability });
      }
      case 'merge': {
        // Merging is mostly writing, so the available agent with the best capability for the role `execute` does it.
        const strength = (name: string) => this.capability(name, 'execute');
        const [best = agent] = available.toSorted((left, right) => strength(right) - strength(left));
        return merge({ ...round, synthesizer: best });
      }
      case 'all':
        return all(round);
    }
  }

  private workOf(result: ModeResult): StepWork {
    const { answers, furtherCalls, output, winner, explanation, warnings, ballots, judged } = result;
    const { startedStep, journal, due } = this.task;
    const attempts = [...answers, ...furtherCalls].flatMap((made) => made.attempts);
    const noted = attempts.map((attempt) => journal.noted(attempt));
    const several = this.agents.length > 1;
    const hosted = this.ports.hosted().map(({ name }) => name);
    const gone = this.agents
      .filter((name) => !hosted.includes(name))
      .map((name) => `models.json has no agent "${name}".`);
    const results = answers.map((one) =>
      isValid(one) ? { agent: one.agent, output: one.answer.text } : { agent: one.agent, error: reasonOf(one) },
    );
    return {
      record: {
        ...startedStep,
        agents: winner === undefined ? this.agents : [winner],
        ...(output === undefined
          ? { status: 'failed', failure: failureOf(answers, explanation) }
          : { status: 'succeeded', output }),
        ...(several && { results }),
        attempts: [...journal.interrupted, ...journal.outdated, ...noted],
        spent: usageOf(journal.recorded),
        ...(judged && { judged }),
        ...((several || due.candidates !== undefined) && { explanation: explanationText(explanation, ballots) }),
        settled_at: this.ports.clock.now(),
      },
      warnings: [...gone, ...warnings].map((warning) => `Step "${startedStep.name}": ${warning}`),
    };
  }

  /** Asks one agent. If this agent fails, the agents most suitable for the role are asked instead. */
  private async askSingle(agent: string): Promise<ModeResult> {
    const result = await this.ask({ key: 'answer', agent, prompt: this.task.due.prompt, replaceable: true });
    if (!isValid(result)) return modeResult([result], reasonOf(result));
    const { answer, agent: winner, warnings } = result;
    return modeResult([result], '', { output: answer.text, winner, warnings });
  }

  private ask({ replaceable, signal, ...question }: Question): Promise<CallResult> {
    const { run, due, budget, journal, concurrentSteps, refusedProviders } = this.task;
    const { role, maxOutputTokens, retry, timeout, repeatable } = due.step;
    const others = replaceable ? fallbackAgents(question.agent, role, this.agentStatuses) : [];
    const hosted = this.ports.hosted();
    const named = (name: string) => hosted.find((one) => one.name === name) ?? [];
    const candidates = [question.agent, ...others].flatMap(named);
    const request = {
      ...question,
      candidates,
      maxOutputTokens,
      attempts: retry.attempts,
      timeout,
      deadline: run.deadline,
      sharedBy: this.agents.length * concurrentSteps,
      repeatable,
      signal: signal ? AbortSignal.any([this.signal, signal]) : this.signal,
    };
    const asking = () => call(request, this.ports, { journal, budget, refusedProviders });
    const before = this.task.sequentially ? this.calls.at(-1) : undefined;
    // If the previous call throws, the next agent is not asked, because the whole step fails.
    const made = before === undefined ? asking() : before.then(asking);
    this.calls.push(made);
    return made;
  }

  /** Returns an agent's capability for a role, from 0 to 1; 0 for an agent that is gone or forbidden. */
  private capability(agent: string, role: AgentRole): number {
    return this.agentStatuses.find(({ name }) => name === agent)?.capabilities[CAPABILITY_OF[role]] ?? 0;
  }
}

function failureOf([only, ...others]: readonly CallResult[], message: string) {
  if (only?.kind !== 'failed' || others.length > 0) return { reason: 'NO_ANSWER', message };
  return { reason: only.end === 'over_budget' ? 'BUDGET_EXHAUSTED' : only.end.toUpperCase(), message };
}

function explanationText(explanation: string, ballots: ModeResult['ballots'] = []): string {
  const shown = ballots.map(({ judge, shown: order, ranking }) => {
    const letters = order.map(({ letter, agent }) => `${letter} = ${agent}`).join(', ');
    return `${judge} saw ${letters} and ranked ${ranking?.join(' > ') ?? 'nothing'}.`;
  });
  return [explanation, ...shown].join(' ');
}
