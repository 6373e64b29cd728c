import { AUTO, HOSTED_AGENTS, NETWORK } from '../agents/profile.ts';
import { agentsOf, type Step } from './definition.ts';

/** What is wrong with a step, and in which of its fields. */
export interface Problem {
  readonly reason: string;
  readonly at: string;
}

/** What is wrong with a step by itself or among the others, apart from what it refers to. */
export function stepProblem(step: Step, steps: readonly Step[]): Problem | undefined {
  return agentProblem(step) ?? modeProblem(step) ?? picksProblem(step, steps);
}

function agentProblem(step: Step): Problem | undefined {
  const at = step.agents === undefined ? 'agent' : 'agents';
  if (step.agent !== undefined && step.agents !== undefined) {
    return { reason: 'it has both agent and agents.', at };
  }
  const names = agentsOf(step);
  const unknown = names.find((name) => !isAgent(name));
  if (unknown !== undefined) return { reason: unknownAgent(unknown), at };
  if (new Set(names).size < names.length) return { reason: 'it names an agent twice.', at };
  const alone = names.length > 1 && names.find((name) => !HOSTED_AGENTS.includes(name));
  if (alone) return { reason: `"${alone}" must be a step's only agent.`, at };
  if (step.capabilities.length > 0 && names[0] !== NETWORK) {
    return { reason: `only an agent "${NETWORK}" is found by capabilities.`, at: 'capabilities' };
  }
  return undefined;
}

export function isAgent(name: string): boolean {
  return name === AUTO || name === NETWORK || HOSTED_AGENTS.includes(name);
}

/** What is said of an agent that there is not. */
export function unknownAgent(name: string): string {
  return `there is no agent "${name}"; there are ${HOSTED_AGENTS.join(', ')}, ${AUTO}, and ${NETWORK} for a live agent with the step's capabilities.`;
}

function modeProblem(step: Step): Problem | undefined {
  if (step.mode === undefined || agentsOf(step).length > 1) return undefined;
  return { reason: `the mode ${step.mode} needs several agents.`, at: 'mode' };
}

function picksProblem(step: Step, steps: readonly Step[]): Problem | undefined {
  if (step.picks === undefined) return undefined;
  const names = agentsOf(step);
  if (names.length > 1 || names[0] === NETWORK) {
    return { reason: 'one hosted agent picks.', at: step.agents === undefined ? 'agent' : 'agents' };
  }
  const picked = steps.find(({ name }) => name === step.picks);
  if (picked === undefined) return undefined; // referenceProblem says so
  if (agentsOf(picked).length > 1 && (picked.mode ?? 'all') === 'all') return undefined;
  return { reason: `"${step.picks}" is no step of several agents with the mode all.`, at: 'picks' };
}
