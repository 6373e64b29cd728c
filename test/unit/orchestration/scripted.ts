/** Simulated hosted agent that follows a script: one act per request, and the last act for all later requests. */
import {
  type AskOptions,
  type Availability,
  type FailureClass,
  type HostedAgent,
  type ModelAnswer,
  ModelFailure,
  type ModelFailureDetails,
  type ModelRequest,
  type Price,
} from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import type { Attempt } from '../../../functions/src/toolsets/orchestration/rules/calls/attempt.ts';
import { RunBudget } from '../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';
import { type Accounts, type Call, call } from '../../../functions/src/toolsets/orchestration/rules/calls/calling.ts';
import type { OrchestrationPorts } from '../../../functions/src/toolsets/orchestration/rules/ports.ts';
import { PROFILES } from '../../support/models/agents.ts';
import { portsOf } from '../../support/ports.ts';
import type { VirtualTime } from './virtualTime.ts';

export type Act =
  | {
      readonly says: string | ((request: ModelRequest) => string);
      readonly after?: number;
      readonly complete?: boolean;
    }
  | {
      readonly fails: FailureClass;
      /** Text that the agent sends before it fails. */
      readonly begins?: string;
      readonly after?: number;
      readonly details?: ModelFailureDetails;
    }
  /** The agent sends this text and then never ends its answer. */
  | { readonly hangsAfter: string }
  | 'hangs';

const NO_CAPABILITIES = { planning: 0.7, execution: 0.7, review: 0.7, contextWindow: 128_000 };

export class ScriptedAgent implements HostedAgent {
  readonly model: string;
  readonly provider: string;
  readonly price: Price | undefined = { inputPerMillion: 1, outputPerMillion: 2 };
  readonly capabilities: HostedAgent['capabilities'];
  readonly maxOutputTokens = 64_000;
  readonly requests: ModelRequest[] = [];
  /** Times at which requests were cancelled, in milliseconds since the start of the test. */
  readonly calledOff: number[] = [];
  readonly name: string;
  private readonly time: VirtualTime;
  private readonly script: readonly Act[];
  private readonly agentStatus: Availability;

  constructor(
    name: string,
    time: VirtualTime,
    script: readonly Act[],
    agentStatus: Availability = { available: true },
  ) {
    this.name = name;
    this.model = `${name}-model`;
    this.provider = `${name}-provider`;
    this.capabilities = PROFILES.find((one) => one.name === name)?.capabilities ?? NO_CAPABILITIES;
    this.time = time;
    this.script = script;
    this.agentStatus = agentStatus;
  }

  availability(): Availability {
    return this.agentStatus;
  }

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const act = this.script[Math.min(this.requests.length, this.script.length - 1)];
    this.requests.push(request);
    if (act === undefined) throw new Error(`${this.name} has no script.`);
    if (act === 'hangs') return this.hang(signal);
    if ('hangsAfter' in act) onText?.(act.hangsAfter);
    if ('hangsAfter' in act) return this.hang(signal);
    if (act.after !== undefined) await this.time.wait(act.after, signal);
    if (signal.aborted) return this.stop();
    if ('fails' in act && act.begins !== undefined) onText?.(act.begins);
    if ('fails' in act) throw new ModelFailure(act.fails, `${this.name} failed.`, act.details);
    const text = typeof act.says === 'string' ? act.says : act.says(request);
    const usage = { input_tokens: 10, output_tokens: 5 };
    return { text, model: this.model, usage, complete: act.complete ?? true };
  }

  private hang(signal: AbortSignal): Promise<ModelAnswer> {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => this.stop().catch(reject));
    });
  }

  private async stop(): Promise<never> {
    this.calledOff.push(this.time.elapsed);
    throw new ModelFailure('aborted', `The request to ${this.name} was cancelled.`, { outcome_unknown: true });
  }
}

type Journal = Accounts['journal'];

export class NotedAttempts implements Journal {
  readonly started: string[] = [];
  readonly ended: Attempt[] = [];

  async begin({ call: key, agent, number }: Parameters<Journal['begin']>[0]): Promise<undefined> {
    this.started.push(`${key} ${agent} ${number}`);
  }

  async end(attempt: Attempt): Promise<void> {
    this.ended.push(attempt);
  }
}

/** Returns the ports and the accounts that tests pass to `call`. */
export function calling(
  time: VirtualTime,
  { journal = new NotedAttempts(), budget = new RunBudget({}), refusedProviders = new Set() }: Partial<Accounts> = {},
): [OrchestrationPorts, Accounts] {
  const randomness = { integer: () => 0 };
  return [portsOf<OrchestrationPorts>({ clock: time, timer: time, randomness }), { journal, budget, refusedProviders }];
}

/** Returns a call that asks these agents one after another and has a distant deadline. */
export function callOf(time: VirtualTime, agents: readonly HostedAgent[], changes: Partial<Call> = {}): Call {
  return {
    key: 'answer:claude',
    candidates: agents,
    prompt: 'Do it.',
    maxOutputTokens: 1000,
    attempts: 3,
    timeout: 60_000,
    deadline: new Date(time.now().getTime() + 600_000),
    sharedBy: 1,
    repeatable: true,
    signal: new AbortController().signal,
    ...changes,
  };
}

export { call };
