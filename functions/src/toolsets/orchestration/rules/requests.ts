/** Turns what a caller asks for into a run: which workflow, which agents, and why. Source: spec/orchestration.md. */
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type AgentRole, AUTO, isAgent, unknownAgent } from './agents/profile.ts';
import type { AgentStatus } from './agents/requirements.ts';
import { assignAgents, chooseWorkflow } from './agents/selection.ts';
import type { RunBudget } from './runs/run.ts';
import type { RunRequest } from './runs/starting.ts';
import {
  allSteps,
  MAX_ATTEMPTS,
  type Mode,
  TIMEOUT,
  type Workflow,
  withSteps,
} from './workflows/definition.ts';
import { builtIn } from './workflows/library.ts';
import { readWorkflow } from './workflows/validation.ts';

interface Preferences {
  readonly agent: string;
  readonly workflow: string;
  readonly role: AgentRole | 'auto';
  readonly cache: boolean;
}

interface RunOptions {
  /** How often a failed request to an agent is made again. */
  readonly retries?: number | undefined;
  /** False: one step, and one agent of a step, after the other, whatever the workflow says. */
  readonly parallel?: boolean | undefined;
  readonly budget: RunBudget;
}

/** Chooses the workflow and the agents for a prompt, where the caller's preferences leave them open. */
export function requestFor(
  prompt: string,
  context: JsonObject,
  preferences: Preferences,
  options: RunOptions,
  agentStatuses: readonly AgentStatus[],
): RunRequest {
  const chosen = chosenWorkflow(prompt, preferences, agentStatuses);
  const workflow = adjusted(chosen.workflow, preferences.role, options);
  const preferred = preferences.agent === AUTO ? undefined : preferences.agent;
  const assignment = assignAgents(workflow, prompt, agentStatuses, {}, preferred);
  return {
    workflow: assignment.workflow,
    input: prompt,
    context,
    budget: options.budget,
    parallel: options.parallel ?? true,
    cache: preferences.cache,
    selection: {
      agent: preferences.agent,
      workflow: workflow.name,
      reasons: [...chosen.reasons, ...assignment.reasons],
    },
  };
}

function chosenWorkflow(
  prompt: string,
  { workflow, agent, role }: Preferences,
  agentStatuses: readonly AgentStatus[],
): { readonly workflow: Workflow; readonly reasons: readonly string[] } {
  if (workflow !== AUTO) return { workflow: known(workflow), reasons: [] };
  if (agent !== AUTO) return { workflow: known('direct'), reasons: ['direct: one agent was asked for.'] };
  if (role !== 'auto') return { workflow: known('direct'), reasons: ['direct: one role was asked for.'] };
  const available = agentStatuses.filter(({ availability }) => availability.available).length;
  const choice = chooseWorkflow(prompt, available);
  return { workflow: known(choice.workflow), reasons: [choice.reason] };
}

function known(name: string): Workflow {
  const workflow = builtIn(name);
  if (workflow === undefined) throw new Error(`There is no built-in workflow ${name}.`);
  return workflow;
}

/** A role is for a workflow's only step: the steps of the others have theirs. */
function adjusted(
  workflow: Workflow,
  role: Preferences['role'],
  { retries, parallel }: RunOptions,
): Workflow {
  const isSingle = allSteps(workflow).length === 1;
  const attempts = retries === undefined ? undefined : Math.min(MAX_ATTEMPTS, retries + 1);
  return withSteps(workflow, (step) => ({
    ...step,
    ...(isSingle && role !== 'auto' && { role }),
    ...(attempts !== undefined && { retry: { attempts } }),
    ...(parallel === false && { parallel }),
  }));
}

/** @throws MusterError VALIDATION_ERROR for an override of what is not there */
export function requestOf(
  workflow: Workflow,
  given: Pick<RunRequest, 'input' | 'context' | 'budget' | 'parallel' | 'cache'>,
  overrides: {
    readonly agents?: Readonly<Record<string, string>> | undefined;
    /** Milliseconds. */
    readonly timeouts?: Readonly<Record<string, number>> | undefined;
  },
  agentStatuses: readonly AgentStatus[],
): RunRequest {
  const { agents = {}, timeouts = {} } = overrides;
  requireSound({ agents, timeouts }, workflow);
  const assignment = assignAgents(workflow, given.input, agentStatuses, { agents, timeouts });
  return {
    ...given,
    workflow: assignment.workflow,
    selection: { agent: AUTO, workflow: workflow.name, reasons: assignment.reasons },
  };
}

function requireSound(
  {
    agents,
    timeouts,
  }: { agents: Readonly<Record<string, string>>; timeouts: Readonly<Record<string, number>> },
  workflow: Workflow,
): void {
  const names = allSteps(workflow).map(({ name }) => name);
  for (const [kind, of] of Object.entries({ agents, timeouts })) {
    const unknown = Object.keys(of).find((name) => !names.includes(name));
    if (unknown === undefined) continue;
    throw wrong(`overrides.${kind}`, `There is no step "${unknown}".`, `The steps are ${names.join(', ')}.`);
  }
  for (const [name, agent] of Object.entries(agents)) {
    if (isAgent(agent)) continue;
    const field = `overrides.agents.${name}`;
    throw wrong(field, `Step "${name}": ${unknownAgent(agent)}`, 'list_agents lists them.');
  }
  for (const [name, timeout] of Object.entries(timeouts)) {
    if (Number.isInteger(timeout) && timeout >= TIMEOUT.least && timeout <= TIMEOUT.most) continue;
    throw wrong(
      `overrides.timeouts.${name}`,
      `Step "${name}": a time-out has ${TIMEOUT.least} to ${TIMEOUT.most} milliseconds.`,
      'Send a whole number of milliseconds.',
    );
  }
}

function wrong(field: string, message: string, suggestion: string): MusterError {
  return new MusterError('VALIDATION_ERROR', message, { field, reason: 'INVALID_OVERRIDE', suggestion });
}

/** One step that several agents do at once; where none is named, all that can be asked. */
export function parallelWorkflow(
  agents: readonly string[],
  mode: Mode,
  role: AgentRole,
  agentStatuses: readonly AgentStatus[],
): Workflow {
  const ready = agentStatuses.filter(({ availability }) => availability.available);
  const asked =
    agents.length > 0 ? agents : (ready.length > 0 ? ready : agentStatuses).map(({ name }) => name);
  const [only, ...others] = asked;
  const step = others.length === 0 ? { agent: only } : { agents: asked, mode };
  return readWorkflow({ name: 'parallel', steps: [{ name: 'answer', role, ...step }] }, 'agents');
}
