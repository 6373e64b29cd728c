/**
 * Assigns agents to the workflow steps that have the agent `auto`, and explains each choice. Respects the agents that
 * the workspace pins or forbids, then compares scores. Source: docs/decisions/0034-routing-that-learns.md.
 */
import { pinnedFor } from '../../../../access/rules/workspace.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { AUTO, isHosted } from '../agents/profile.ts';
import { recommend, type Situation, scoresFor } from '../agents/roster.ts';
import { chooseByScore, evidenceOf, type RandomSource } from '../agents/scoring.ts';
import { estimatedTokens } from '../calls/budget.ts';
import { agentsOf, allSteps, isGroup, type Step, type Workflow, withSteps } from '../workflows/definition.ts';

/** Agents, and timeouts in milliseconds, that the caller sets for single steps. The keys are step names. */
export interface Overrides {
  readonly agents?: Readonly<Record<string, string>> | undefined;
  readonly timeouts?: Readonly<Record<string, number>> | undefined;
}

export interface Assigned {
  readonly workflow: Workflow;
  readonly reasons: readonly string[];
}

/** Applies a caller's overrides. @param preferred agent that replaces `auto` in the steps without an override */
export function withOverrides(workflow: Workflow, overrides: Overrides, preferred: string): Workflow {
  const agents = new Map(Object.entries(overrides.agents ?? {}));
  const timeouts = new Map(Object.entries(overrides.timeouts ?? {}));
  return withSteps(workflow, (step) => {
    const timeout = timeouts.get(step.name) ?? step.timeout;
    const named = agents.get(step.name);
    if (named === undefined && !agentsOf(step).includes(AUTO)) return { ...step, timeout };
    return { ...withSingleAgent(step, named ?? preferred), timeout };
  });
}

/** @throws MusterError FORBIDDEN if the workspace forbids the agent */
export function requireAgentAllowed(
  name: string,
  { routing, workspace }: Pick<Situation, 'routing' | 'workspace'>,
  field: string,
): void {
  if (!routing.forbidden.includes(name)) return;
  throw new MusterError('FORBIDDEN', `The agent "${name}" is forbidden in the workspace "${workspace}".`, {
    field,
    value: name,
    reason: 'AGENT_FORBIDDEN',
    suggestion: `Use another agent or ${AUTO}. A leader can allow "${name}" with access.update_workspace and routing.forbid.`,
  });
}

const GONE = 'models.json does not contain it';

function absence({ name: step }: Step, agent: string, situation: Situation): string {
  const why = isGone(agent, situation) ? GONE : 'the workspace forbids it';
  return `${step}: does not use ${agent}, because ${why}.`;
}

/** Returns whether models.json no longer contains an agent that a workflow names. */
function isGone(name: string, { agentStatuses }: Situation): boolean {
  return isHosted(name) && !agentStatuses.some((one) => one.name === name);
}

/**
 * Replaces agents that models.json no longer contains in a saved workflow, by `auto` if none of a step is left.
 * @throws MusterError VALIDATION_ERROR if a step could then no longer choose between answers
 */
export function withoutGone(workflow: Workflow, situation: Situation): Assigned {
  const reasons: string[] = [];
  const adapted = withSteps(workflow, (step) => {
    const names = agentsOf(step);
    const left = names.filter((name) => !isGone(name, situation));
    if (left.length === names.length) return step;
    reasons.push(...names.filter((one) => !left.includes(one)).map((name) => absence(step, name, situation)));
    const [last = AUTO, ...more] = left;
    return more.length > 0 ? { ...step, agents: left } : withSingleAgent(step, last);
  });
  const picking = allSteps(adapted).find(({ picks }) =>
    allSteps(adapted).some((step) => step.name === picks && agentsOf(step).length < 2),
  );
  if (picking === undefined) return { workflow: adapted, reasons };
  throw new MusterError('VALIDATION_ERROR', `Step "${picking.picks}" has too few agents. ${reasons.join(' ')}`, {
    field: 'workflow',
    reason: 'AGENTS_GONE',
    suggestion: 'Name other agents in the workflow. orchestration.list_agents lists them.',
  });
}

/** Applies a workspace's routing to a built-in workflow: replaces forbidden agents and prefers pinned agents. */
export function asRouted(workflow: Workflow, situation: Situation): Assigned {
  const { routing } = situation;
  const reasons: string[] = [];
  const isAllowed = (name: string) => !routing.forbidden.includes(name) && !isGone(name, situation);
  const routed = (step: Step): Step => {
    const names = agentsOf(step);
    const [only = AUTO, ...others] = names;
    const left = names.filter(isAllowed);
    const told = names.filter((one) => !left.includes(one) && (others.length > 0 || isGone(one, situation)));
    reasons.push(...told.map((name) => absence(step, name, situation)));
    if (others.length === 0) {
      const pinned = pinnedFor(routing, step.role);
      const isKept = only === AUTO || (left.length > 0 && (pinned ?? only) === only);
      return isKept ? step : withSingleAgent(step, AUTO);
    }
    if (left.length === names.length) return step;
    const [last = AUTO, ...more] = left;
    return more.length > 0 ? { ...step, agents: left } : withSingleAgent(step, last);
  };
  const adapted = withSteps(workflow, routed);
  const several = adapted.steps.flatMap((entry) => (!isGroup(entry) && agentsOf(entry).length > 1 ? [entry.name] : []));
  const hasNoChoice = (entry: (typeof adapted.steps)[number]) =>
    !isGroup(entry) && entry.picks !== undefined && !several.includes(entry.picks);
  return { workflow: { ...adapted, steps: adapted.steps.filter((entry) => !hasNoChoice(entry)) }, reasons };
}

/** @param random seeded by the run, for a reproducible choice @returns the workflow without `auto`, with reasons */
export function assignAgents(workflow: Workflow, input: string, situation: Situation, random: RandomSource): Assigned {
  const reasons: string[] = [];
  const contextSize = estimatedTokens(input);
  const assigned = (step: Step): Step => {
    if (!agentsOf(step).includes(AUTO)) return step;
    const { agent, reason } = chosenFor(step, contextSize, situation, random);
    reasons.push(`${step.name}: ${reason}.`);
    return withSingleAgent(step, agent);
  };
  return { workflow: withSteps(workflow, assigned), reasons };
}

function chosenFor({ role }: Step, contextSize: number, situation: Situation, random: RandomSource) {
  const { agentStatuses, routing, work, workspace } = situation;
  const allowed = agentStatuses.filter(({ name }) => !routing.forbidden.includes(name));
  const ranked = recommend(allowed, { role, contextSize }, situation);
  const [best] = ranked;
  if (best === undefined)
    throw new MusterError('FORBIDDEN', `Every available agent is forbidden in the workspace "${workspace}".`, {
      reason: 'AGENT_FORBIDDEN',
      suggestion: 'Ask a leader of the workspace to allow an agent, with access.update_workspace and routing.forbid.',
    });
  const pinned = pinnedFor(routing, role);
  const pinnedStatus = allowed.find(({ name }) => name === pinned);
  const able = ranked.filter(({ warnings }) => warnings.length === 0);
  const standings = scoresFor(role, agentStatuses, work);
  const inOrder = able.flatMap(({ agent }) => standings.filter((one) => one.agent === agent));
  const agent = pinnedStatus?.availability.available
    ? pinnedStatus.name
    : (chooseByScore(inOrder, work[role], random)?.agent ?? best.agent);
  const chosen = ranked.find((one) => one.agent === agent) ?? best;
  const { score, warnings, reasons } = chosen;
  const parts = [`${agent}: ${reasons.join(', ')} (${score})`];
  if (warnings.length > 0) parts.push(`, with warnings: ${warnings.join('; ')}`);
  if (agent !== pinned && chosen !== best) parts.push(`, tried occasionally although ${best.agent} scores higher`);
  if (pinned !== undefined && agent !== pinned) parts.push(`; ${pinned} is pinned, but ${absenceOf(pinnedStatus)}`);
  for (const { agent: other, record } of standings) {
    if (routing.forbidden.includes(other)) parts.push(`; ${other}: forbidden in this workspace`);
    else if (other !== agent && record !== undefined) parts.push(`; ${other}: ${evidenceOf(record, role)}`);
  }
  return { agent, reason: parts.join('') };
}

function absenceOf(status: Situation['agentStatuses'][number] | undefined): string {
  if (status === undefined) return GONE;
  if (status.availability.available) return 'not usable here';
  return `unavailable: ${status.availability.reason}`;
}

function withSingleAgent(step: Step, agent: string): Step {
  const { agents: _several, mode: _mode, ...single } = step;
  return { ...single, agent };
}
