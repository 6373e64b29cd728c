/** Why a task does not go ahead, and what changes that. Source: docs/guides/access.md#why. */
import type { ExplainProgress, Progress, WaitReason } from '../../../access/rules/decision.ts';
import type { Agent, Availability } from '../../../agents/rules/agent.ts';
import { availability, withPresence } from '../../../agents/rules/liveness.ts';
import { roleIn } from '../../../identity/rules/principal.ts';
import { readFor, Service } from '../../../kernel/ports.ts';
import { budgetReason } from './budgetWait.ts';
import { runnerMembership } from './codingTask.ts';
import { filesReason } from './files/reserving.ts';
import type { CoordinationPorts } from './ports.ts';
import { REVIEWS } from './proof/proofFields.ts';
import { isVerifying, verifyingText } from './proof/proving.ts';
import { stuckBy } from './stuck.ts';
import { isClosed, isHeld, type Task, taskNotFound } from './task.ts';

/** An agent with the capabilities that a task requires. */
export interface Candidate {
  readonly agent: Pick<Agent, 'id' | 'owner_uid' | 'serves'>;
  readonly availability: Availability;
}

export interface TaskFacts {
  readonly task: Task;
  /** The open tasks that the task waits for. */
  readonly open: readonly Task[];
  readonly candidates: readonly Candidate[];
  /** Returns the name of a person for display. */
  readonly nameOf: (uid: string) => string;
}

const MAX_NAMED = 3;

/** Maximum number of agents that are considered. */
const MAX_CANDIDATES = 20;

export function progressOf(facts: TaskFacts): Progress {
  const { status, claim } = facts.task;
  const holder = isHeld(status) && claim ? ` by "${claim.claimed_by}"` : '';
  const state = isVerifying(facts.task) ? 'being verified' : status.replace('_', ' ');
  return { state: `The task is ${state}${holder}.`, waits: isClosed(status) ? [] : waitsOf(facts) };
}

function waitsOf({ task, open, candidates, nameOf }: TaskFacts): readonly WaitReason[] {
  const { status, waiting_for: question, retry_at, error } = task;
  const verifying = verifyingText(task);
  if (verifying !== undefined) {
    const check = `access.explain {"task": "${task.proof?.check}"} explains the check.`;
    return [{ why: verifying, remedy: question ? `${question.who} answers in the console, under Needs you.` : check }];
  }
  if (isHeld(status)) return waitsOfHeld(task);
  const cause = stuckBy(task);
  if (cause !== undefined) {
    const remedy = `Retry that task: coordination.retry_task {"task_id": "${cause}", "with_dependents": true}.`;
    return [{ why: `It can never start, because task "${cause}" failed or was cancelled.`, remedy }];
  }
  const budget = budgetReason(task);
  if (budget !== undefined)
    return [{ why: budget, remedy: 'Raise the budget with system.setBudget, or answer the question about it.' }];
  const files = filesReason(task);
  if (files !== undefined) {
    const remedy = `The task can be claimed as soon as "${task.files_wait}" has ended, or now with coordination.claim_task {"share_files": true}.`;
    return [{ why: files, remedy }];
  }
  const waits = open.map((one) => {
    const remedy = `access.explain {"task": "${one.id}"} explains that task.`;
    return { why: `It waits for "${titleOf(one)}" (${one.status}).`, remedy };
  });
  if (retry_at !== undefined)
    waits.push({
      why: `The last attempt failed${error === undefined ? '' : `: ${error.slice(0, 300)}`}.`,
      remedy: `At ${retry_at.toISOString()}, it can be claimed again.`,
    });
  return waits.length > 0 ? waits : unclaimed(task, candidates, nameOf);
}

function waitsOfHeld({ id, waiting_for: question, parts_awaited }: Task): readonly WaitReason[] {
  if (question) {
    const { who, until } = question;
    const remedy = `${who} answers it in the console, under Needs you. At ${until.toISOString()}, the agent continues without an answer.`;
    return [{ why: `${who} has not yet answered the question of the agent.`, remedy }];
  }
  if (!parts_awaited) return [];
  const { failed } = parts_awaited;
  const why = failed.length === 0 ? 'Its parts are not done.' : `Its parts failed: ${failed.join(', ')}.`;
  return [{ why, remedy: `system.getTree {"kind": "task", "id": "${id}"} lists the parts.` }];
}

function unclaimed(
  { required_capabilities, coding }: Task,
  candidates: readonly Candidate[],
  nameOf: TaskFacts['nameOf'],
): readonly WaitReason[] {
  const required = declarable(required_capabilities);
  const what = required.length === 0 ? 'agent' : `agent with ${required.join(', ')}`;
  const start = coding ? 'Start a runner: npm run runner.' : 'Start an agent that claims tasks.';
  if (candidates.length === 0) {
    const why = `No ${what} is registered in the workspace.`;
    return [{ why, remedy: coding ? start : `${start} coordination.register_agent sets its capabilities.` }];
  }
  const online = candidates.filter(({ availability: state }) => state !== 'offline');
  if (online.length === 0) return [{ why: `Every ${what} is offline: ${namesOf(candidates)}.`, remedy: start }];
  const owner = coding?.owner_uid;
  const mayTake = ({ agent }: Candidate) => [undefined, owner].includes(runnerMembership(agent).owner);
  const able = coding === undefined ? online : online.filter(mayTake);
  if (able.length === 0 && owner !== undefined) {
    const why = `The task belongs to ${nameOf(owner)}, and ${namesOf(online)} take only tasks of other owners.`;
    return [{ why, remedy: 'Start a runner with a key of that person, or start one of these with --for workspace.' }];
  }
  if (able.some(({ availability: state }) => state !== 'busy')) return [];
  return [{ why: `Every ${what} is busy: ${namesOf(able)}.`, remedy: `Wait, or start another one.` }];
}

/** Returns the capabilities that an agent can declare. Every agent can do reviews. */
function declarable(capabilities: readonly string[]): readonly string[] {
  return capabilities.filter((name) => name !== REVIEWS);
}

function namesOf(candidates: readonly Candidate[]): string {
  const names = candidates.slice(0, MAX_NAMED).map(({ agent }) => `"${agent.id}"`);
  const more = candidates.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function titleOf({ description }: Task): string {
  return description.split('\n')[0]?.slice(0, 100) ?? '';
}

export class TaskProgressExplainer extends Service<CoordinationPorts> {
  /** @throws MusterError NOT_FOUND, also if the caller has no role in the task's workspace */
  readonly explain: ExplainProgress = async (caller, id) => {
    const { tasks, idTokens } = this.ports;
    const task = (await readFor(caller.owner_uid, tasks.find(id)))?.value;
    if (task === undefined || roleIn(caller, task.workspace) === undefined) throw taskNotFound(id);
    const owner = task.coding?.owner_uid;
    const [dependencies, candidates, profiles] = await Promise.all([
      tasks.findAll(task.dependencies.slice(0, MAX_CANDIDATES)),
      task.status === 'available' ? this.candidatesFor(task) : [],
      idTokens.profiles(owner === undefined ? [] : [owner]),
    ]);
    const open = dependencies.flatMap((found) => (found && !isClosed(found.value.status) ? found.value : []));
    return progressOf({ task, open, candidates, nameOf: (uid) => profiles.get(uid)?.name ?? `the person "${uid}"` });
  };

  private async candidatesFor({ workspace, required_capabilities: capabilities }: Task): Promise<readonly Candidate[]> {
    const { directory, presence, clock } = this.ports;
    const query = { workspace, capabilities: declarable(capabilities) };
    const { items } = await directory.list(query, MAX_CANDIDATES, undefined);
    const seen = await presence.lastSeen(items.map(({ id }) => id));
    return items.map((agent) => {
      return { agent, availability: availability(withPresence(agent, seen.get(agent.id), clock.now())) };
    });
  }
}
