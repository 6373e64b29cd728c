/** What has been measured of hosted agents: counters, added to by the commit that books their requests. */
import type { Attempt } from '../calls/attempt.ts';

export interface AgentMeasure {
  readonly agent: string;
  /** Requests that were made and have ended by themselves. */
  readonly requests: number;
  readonly answered: number;
  /** That the answered ones took. */
  readonly milliseconds: number;
}

export interface AgentMeasureReader {
  /** Those of the agents that have been measured. */
  read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>>;
}

/** What became of no fault or merit of the agent's: it was not asked, or called off. */
const UNMEASURED: readonly Attempt['end'][] = ['unavailable', 'over_budget', 'interrupted', 'aborted'];

/** By agent. Attempts that an earlier execution has made, and counted, must not be among them. */
export function measuresOf(attempts: readonly Attempt[]): readonly AgentMeasure[] {
  const measures = new Map<string, AgentMeasure>();
  for (const { agent, end, milliseconds } of attempts) {
    if (UNMEASURED.includes(end)) continue;
    const { requests = 0, answered = 0, milliseconds: before = 0 } = measures.get(agent) ?? {};
    const isAnswer = end === 'answered';
    measures.set(agent, {
      agent,
      requests: requests + 1,
      answered: answered + Number(isAnswer),
      milliseconds: before + (isAnswer ? milliseconds : 0),
    });
  }
  return [...measures.values()];
}

export interface AgentMetrics {
  /** Milliseconds from request to the end of the answer, on average. */
  readonly avgResponseTime?: number;
  /** From 0 to 1. */
  readonly successRate: number;
  readonly totalRequests: number;
}

/** Undefined without a request: nothing is made up. */
export function metricsOf(measure: AgentMeasure | undefined): AgentMetrics | undefined {
  if (measure === undefined || measure.requests === 0) return undefined;
  const { requests, answered, milliseconds } = measure;
  return {
    ...(answered > 0 && { avgResponseTime: Math.round(milliseconds / answered) }),
    successRate: answered / requests,
    totalRequests: requests,
  };
}

/** What commits may change of measures. */
export interface MeasureChanges {
  /** Adds to what has been measured of the agent. */
  readonly measureAgent: { readonly measure: AgentMeasure };
}

declare module '../../store.ts' {
  interface ChangeKinds extends MeasureChanges {}
}
