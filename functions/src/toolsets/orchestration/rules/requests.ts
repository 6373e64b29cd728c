/** Converts a caller's request to a run, with its workflow and agents. Source: the orchestration specification. */
import { MusterError, unknownName } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type AgentRole, AUTO, unknownAgent, unknownIn } from './agents/profile.ts';
import { chooseWorkflow, type Situation } from './agents/roster.ts';
import { dollarLimit, noPrice } from './calls/budget.ts';
import { asRouted, type Overrides, requireAgentAllowed, withOverrides, withoutGone } from './runs/assignment.ts';
import type { RunRequest } from './runs/order.ts';
import * as definitions from './workflows/definition.ts';
import { builtIn } from './workflows/library.ts';
import { readWorkflow } from './workflows/validation.ts';

/** A caller's preferences. Omitted ones are chosen automatically. */
interface Preferences {
  readonly agent?: string | undefined;
  readonly workflow?: string | undefined;
  readonly role?: AgentRole | 'auto' | undefined;
  readonly cache?: boolean | undefined;
}

interface RunOptions {
  readonly retries?: number | undefined;
  /** False: steps, and the agents of one step, run sequentially, even if the workflow marks them as parallel. */
  readonly parallel?: boolean | undefined;
  readonly budget: RunRequest['budget'];
}

/**
 * Chooses the workflow for a prompt, unless the caller's preferences specify a workflow.
 * @throws MusterError VALIDATION_ERROR for an unknown agent, or one without a price; FORBIDDEN for a forbidden one
 */
export function requestFor(
  { prompt, context = {} }: { readonly prompt: string; readonly context?: JsonObject },
  { agent = AUTO, workflow: name = AUTO, role = AUTO, cache = true }: Preferences,
  { retries, parallel, budget }: RunOptions,
  situation: Situation,
): RunRequest {
  const names = [AUTO, ...hostedIn(situation)];
  if (!names.includes(agent)) throw unknownName('agent', agent, names, 'preferences.agent');
  requireUsable(agent, situation, budget, 'preferences.agent');
  const chosen = name === AUTO ? chosenWorkflow(prompt, agent, role, situation) : { workflow: name, reason: undefined };
  const known = builtIn(chosen.workflow);
  if (known === undefined) throw new Error(`Unknown built-in workflow "${chosen.workflow}".`);
  // A requested role applies only to a workflow with one step. Other workflows define the roles of their steps.
  const isSingle = definitions.allSteps(known).length === 1;
  const attempts = retries === undefined ? undefined : Math.min(definitions.MAX_STEP_ATTEMPTS, retries + 1);
  const adjusted = definitions.withSteps(known, (step) => ({
    ...step,
    ...(isSingle && role !== 'auto' && { role }),
    ...(attempts !== undefined && { retry: { attempts } }),
    ...(parallel === false && { parallel }),
  }));
  const { workflow: routed, reasons } = asRouted(adjusted, situation);
  const workflow = withOverrides(routed, {}, agent);
  const selection = {
    agent,
    workflow: known.name,
    reasons: chosen.reason === undefined ? reasons : [chosen.reason, ...reasons],
  };
  const request = { workflow, input: prompt, context, budget, parallel: parallel ?? true };
  return { ...request, cache, selection, situation };
}

function chosenWorkflow(prompt: string, agent: string, role: string, situation: Situation) {
  if (agent !== AUTO) return { workflow: 'direct', reason: 'direct: the caller chose an agent.' };
  if (role !== AUTO) return { workflow: 'direct', reason: 'direct: the caller chose a role.' };
  return chooseWorkflow(prompt, ready(situation).length);
}

/** @throws MusterError VALIDATION_ERROR for an unknown step or agent in overrides; FORBIDDEN for a forbidden agent */
export function requestOf(
  workflow: definitions.Workflow,
  given: Pick<RunRequest, 'input' | 'context' | 'budget' | 'cache'>,
  overrides: Overrides,
  situation: Situation,
): RunRequest {
  requirePossible(workflow, overrides, hostedIn(situation));
  for (const [step, name] of Object.entries(overrides.agents ?? {}))
    requireUsable(name, situation, given.budget, `overrides.agents.${step}`);
  const isBuiltIn = builtIn(workflow.name) === workflow;
  const { workflow: routed, reasons } = isBuiltIn ? asRouted(workflow, situation) : withoutGone(workflow, situation);
  const asked = withOverrides(routed, overrides, AUTO);
  for (const name of definitions.allSteps(asked).flatMap(definitions.agentsOf)) {
    requireAgentAllowed(name, situation, 'workflow');
    if (!isBuiltIn) requirePriced(name, situation, given.budget, 'workflow');
  }
  const selection = { agent: AUTO, workflow: workflow.name, reasons };
  return { ...given, workflow: asked, parallel: true, selection, situation };
}

function hostedIn({ agentStatuses }: Situation): readonly string[] {
  return agentStatuses.map(({ name }) => name);
}

/** @throws MusterError FORBIDDEN for a forbidden agent; VALIDATION_ERROR for an agent without a price */
function requireUsable(name: string, situation: Situation, budget: RunRequest['budget'], field: string): void {
  requireAgentAllowed(name, situation, field);
  requirePriced(name, situation, budget, field);
}

/** @throws MusterError VALIDATION_ERROR if the budget has a limit in US dollars and the agent's price is unknown */
function requirePriced(name: string, { agentStatuses }: Situation, budget: RunRequest['budget'], field: string): void {
  const agent = agentStatuses.find((one) => one.name === name);
  if (agent === undefined || agent.price !== undefined || dollarLimit(budget) === undefined) return;
  throw new MusterError('VALIDATION_ERROR', noPrice(name), {
    field,
    value: name,
    reason: 'NO_PRICE',
    suggestion: 'Use another agent. The operator can add the price of this one: docs/guides/models.md.',
  });
}

function requirePossible(
  workflow: definitions.Workflow,
  { agents = {}, timeouts = {} }: Overrides,
  hosted: readonly string[],
): void {
  const names = definitions.allSteps(workflow).map(({ name }) => name);
  for (const [kind, of] of Object.entries({ agents, timeouts })) {
    const unknown = Object.keys(of).find((name) => !names.includes(name));
    if (unknown === undefined) continue;
    throw wrong(kind, `Unknown step "${unknown}".`, `Use one of: ${names.join(', ')}.`);
  }
  for (const [name, agent] of Object.entries(agents)) {
    if (unknownIn([agent], hosted) === undefined) continue;
    throw wrong(
      `agents.${name}`,
      `Step "${name}": ${unknownAgent(agent, hosted)}`,
      'orchestration.list_agents lists the agents.',
    );
  }
  for (const [name, timeout] of Object.entries(timeouts)) {
    if (Number.isInteger(timeout) && timeout >= definitions.TIMEOUT.min && timeout <= definitions.TIMEOUT.max) continue;
    const message = `Step "${name}": the timeout must be ${definitions.TIMEOUT.min} to ${definitions.TIMEOUT.max} milliseconds.`;
    throw wrong(`timeouts.${name}`, message, 'Send a whole number of milliseconds.');
  }
}

function wrong(path: string, message: string, suggestion: string): MusterError {
  const field = `overrides.${path}`;
  return new MusterError('VALIDATION_ERROR', message, { field, reason: 'INVALID_OVERRIDE', suggestion });
}

function allowed({ agentStatuses, routing }: Situation) {
  return agentStatuses.filter(({ name }) => !routing.forbidden.includes(name));
}

function ready(situation: Situation) {
  return allowed(situation).filter(({ availability }) => availability.available);
}

/** Returns a workflow whose only step asks several agents concurrently; by default, all available agents. */
export function parallelWorkflow(
  agents: readonly string[],
  mode: definitions.Mode,
  role: AgentRole,
  situation: Situation,
): definitions.Workflow {
  for (const name of agents) requireAgentAllowed(name, situation, 'agents');
  const hosted = hostedIn(situation);
  const [able, all] = [ready(situation), allowed(situation)];
  // Under the default budget, an agent without a price is never asked.
  const chosen = [able.filter(({ price }) => price !== undefined), able, all].find(({ length }) => length > 0) ?? [];
  const asked = agents.length > 0 ? agents : chosen.slice(0, definitions.MAX_AGENTS).map(({ name }) => name);
  const [only, ...others] = asked;
  const step = others.length === 0 ? { agent: only } : { agents: asked, mode };
  return readWorkflow({ name: 'parallel', steps: [{ name: 'answer', role, ...step }] }, 'agents', hosted);
}
