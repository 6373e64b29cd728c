/** Checks the results of tasks that must be proven. Source: docs/decisions/0061-done-means-proven.md. */
import { z } from 'zod/mini';
import type { Agent } from '../../../../agents/rules/agent.ts';
import { personsRoleIn } from '../../../../identity/rules/principal.ts';
import type { Versioned } from '../../../../kernel/commit.ts';
import { ignoreStale, retryOnConflict } from '../../../../kernel/concurrency.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { DAY_MS, HOUR_MS, Service, skipUnreadable } from '../../../../kernel/ports.ts';
import { type SweepContext, type SweepJob, type SweepReport, sweepPages } from '../../../../kernel/sweep.ts';
import { asCodingTask, requeuedCoding, withFailure } from '../codingTask.ts';
import { newTaskIds } from '../creation.ts';
import { heldAgain } from '../files/reserving.ts';
import { noticeChanges } from '../messages.ts';
import { queueGrowth, queueGrowthIn } from '../openSession.ts';
import type { CoordinationChange, CoordinationPorts, TaskWithChanges } from '../ports.ts';
import { cancelTask, DEFAULT_LEASE_SECONDS, newClaim } from '../stateMachine.ts';
import { isClosed, isHeld, type Task } from '../task.ts';
import { countedChange, outcomeChanges } from '../taskChanges.ts';
import { checkOf } from './checks.ts';
import {
  approve,
  claimOf,
  correctionDigest,
  isVerifying,
  type Verifying,
  withCorrection,
  withoutProof,
} from './proving.ts';
import { ANSWER_DAYS, APPROVE, GIVE_UP, questionText, REQUEST_CHANGES } from './questions.ts';

const BATCH = 100;

/** Opinion of a check about a result. `nothing`: the check ended without a verdict. */
export type Ruling =
  | { readonly says: 'approve'; readonly by: string; readonly commit?: string | undefined }
  | {
      readonly says: 'request_changes';
      readonly by: string;
      readonly comments: string;
      readonly step: string;
      /** Whether a person decided, whose corrections have no limit. */
      readonly isPersons?: boolean;
    }
  | { readonly says: 'give_up'; readonly by: string }
  | { readonly says: 'ask_another' }
  | { readonly says: 'nothing'; readonly why: string };

export class Proofs extends Service<CoordinationPorts> {
  /** Handles results whose check brought no verdict in time. */
  readonly sweepJob: SweepJob = { name: 'proofs', run: (turn) => this.sweep(turn) };

  /** Begins the check of a handed-in result, if it has none. Any other task is returned unchanged. */
  async begun(task: Task, now: Date): Promise<TaskWithChanges> {
    if (!isVerifying(task) || task.proof.check !== undefined) return { task, changes: [] };
    const { step } = task.proof;
    const begun = step === 'command' || step === 'review' ? await this.beginCheck(task, step, now) : undefined;
    return begun ?? this.askPerson(task, now);
  }

  /** Returns undefined if no agent could do the check, so that a person is asked instead. */
  private async beginCheck(
    before: Verifying,
    step: 'command' | 'review',
    now: Date,
  ): Promise<TaskWithChanges | undefined> {
    const { agents, directory, randomness, sessions } = this.ports;
    const { proof, workspace, session } = before;
    const [open, author, counts] = await Promise.all([
      sessions.current(workspace),
      skipUnreadable(agents.find(proof.agent_id)),
      step === 'review' ? directory.counts(workspace) : undefined,
    ]);
    if (open?.session.id !== session || counts?.registered === 1) return undefined;
    const id = newTaskIds(randomness, now)(0);
    const { check, task } = checkOf(before, step, author?.value, { id, now });
    const grown = await queueGrowthIn(sessions, open, [check]).catch(unlessTooManyKeys);
    if (grown === undefined) return undefined;
    const proof_until = new Date(now.getTime() + task.acceptance.hours * HOUR_MS);
    return {
      task: { ...task, proof: { ...proof, check: id }, proof_until },
      changes: [{ kind: 'createTask', task: check }, countedChange(undefined, check, now), grown],
    };
  }

  /** Asks a person. Fails the task if no person can be asked. */
  private async askPerson(task: Verifying, now: Date): Promise<TaskWithChanges> {
    const { idTokens, randomness } = this.ports;
    const askedOf = await this.personFor(task);
    if (askedOf === undefined)
      return { task: failed(task, 'No person can be asked whether it is done.', now), changes: [] };
    const { id: task_id, workspace, proof, authors } = task;
    const name = (await idTokens.profiles([askedOf])).get(askedOf)?.name ?? askedOf;
    const until = new Date(now.getTime() + ANSWER_DAYS * DAY_MS);
    const question = {
      id: `request-${randomness.letters(20)}`,
      workspace,
      question: questionText(task),
      options: [APPROVE, REQUEST_CHANGES, GIVE_UP],
      proves: { task_id, round: proof.round, not_by: authors.flatMap(({ agent_id, uid }) => [agent_id, uid]) },
      asked_of: askedOf,
      asked_of_name: name,
      created_at: now,
      expires_at: until,
    };
    const asked = { ...proof, step: 'person', check: question.id };
    const waiting_for = { request_id: question.id, who: name, until };
    return {
      task: { ...task, proof: asked, proof_until: until, waiting_for },
      changes: [{ kind: 'askAboutResult', question }],
    };
  }

  /** Returns the person that the task names, its owner, or a leader of the workspace: the first who has a role here. */
  private async personFor({ acceptance, owner_uid, workspace }: Verifying): Promise<string | undefined> {
    const { people, roles } = this.ports;
    const { confirm = 'owner' } = acceptance;
    for (const uid of [confirm, owner_uid])
      if (uid !== undefined && personsRoleIn(await roles.of(uid), workspace) !== undefined) return uid;
    return (await people.leaders(workspace, 1))[0]?.value.uid ?? owner_uid;
  }

  /**
   * Returns the task that a check is about, and the changes with which the ruling takes effect on it. `isLate`: it has
   * no effect, because the check was over.
   */
  async judged({ id, task_id }: { readonly id: string; readonly task_id: string }, ruling: Ruling, now: Date) {
    const found = await skipUnreadable(this.ports.tasks.find(task_id));
    if (found === undefined || !isVerifying(found.value) || found.value.proof.check !== id)
      return { task: found?.value, isLate: true, changes: [] };
    const { task, changes } = await this.ruled(found.value, ruling, now);
    return { task, isLate: false, changes: [...(await this.changesOf(found, task, now)), ...changes] };
  }

  /** Returns all changes of a task after a ruling, except those of its checks and its author. */
  async changesOf({ value: before, version }: Versioned<Task>, task: Task, now: Date): Promise<CoordinationChange[]> {
    const frees = task.status === 'available' || (task.status === 'done' && task.dependents.length > 0);
    const changes = outcomeChanges(before, { kind: 'accepted', task }, version, now);
    return frees ? [...changes, ...(await queueGrowth(this.ports.sessions, task))] : changes;
  }

  /** Returns the task after a ruling. The caller commits the task with the changes. */
  async ruled(task: Verifying, ruling: Ruling, now: Date): Promise<TaskWithChanges> {
    const { acceptance, proof } = task;
    switch (ruling.says) {
      case 'approve':
        return this.begun(approve(task, ruling.by, ruling.commit ?? proof.commit, now), now);
      case 'request_changes':
        return this.corrected(task, ruling, now);
      case 'give_up':
        return { task: failed(task, gaveUp(task, ruling.by), now), changes: [] };
      case 'ask_another':
        return this.askPerson(task, now);
      case 'nothing':
        return acceptance.otherwise === 'ask' && proof.step !== 'person'
          ? this.askPerson(withoutCheck(task), now)
          : { task: failed(task, ruling.why, now), changes: [] };
    }
  }

  private async corrected(
    before: Verifying,
    { by, comments, step, isPersons }: Extract<Ruling, { readonly says: 'request_changes' }>,
    now: Date,
  ): Promise<TaskWithChanges> {
    const digest = correctionDigest(this.ports.hashing, comments);
    const { task, times } = withCorrection(before, before.proof, { by, comments, step, digest }, now);
    const isOver = !isPersons && (times > 1 || task.rounds >= before.acceptance.rounds);
    return isOver && isVerifying(task) ? this.askPerson(withoutCheck(task), now) : this.back(task, before, now);
  }

  /** Returns the task to its author, if that agent is registered and has room for it, and to the queue otherwise. */
  async back(task: Task, { proof }: Pick<Verifying, 'proof'>, now: Date): Promise<TaskWithChanges> {
    const { proof: _sentBack, claim: _ended, completed_at: _at, proven: _not, ...rest } = withoutProof(task);
    const open: Task = { ...rest, proven: [], status: 'available' };
    const [last] = task.sent_back.slice(-1);
    const message = last?.comments ?? '';
    if (task.coding !== undefined) {
      const held = { ...task, claim: claimOf(proof), completed_at: proof.since };
      const failure = { class: 'acceptance_failed' as const, message };
      return { task: withCommits(requeuedCoding(held, open, failure, now), proof.commits), changes: [] };
    }
    const author = await freeAgent(this.ports, proof.agent_id);
    if (author === undefined) return { task: open, changes: [] };
    const { agent_id: agentId, lease_seconds } = proof;
    const claim_epoch = task.claim_epoch + 1;
    const claim = newClaim({ agent_id: agentId, claim_epoch }, lease_seconds || DEFAULT_LEASE_SECONDS, now);
    const claimed: Task = { ...open, status: 'claimed', claim_epoch, claim };
    const { task: returned, changes } = await heldAgain(this.ports, author, claimed);
    const text = `Your result of ${task.id} was sent back. Claim it again with coordination.claim_task. ${message}`;
    const notices = await noticeChanges(this.ports, task.workspace, [{ agentId, taskId: task.id, text }]);
    return { task: returned, changes: [...changes, ...notices] };
  }

  /** Returns the changes that end the open check of a task, because its verdict is not needed. */
  async endCheck(task: Task, now: Date): Promise<readonly CoordinationChange[]> {
    if (!isVerifying(task) || task.proof.check === undefined) return [];
    const { check, step } = task.proof;
    if (step === 'person')
      return [{ kind: 'withdrawQuestion', id: check, workspace: task.workspace, about: task.id, at: now }];
    const found = await skipUnreadable(this.ports.tasks.find(check));
    return found === undefined || isClosed(found.value.status) ? [] : cancelled(found, now);
  }

  /**
   * Continues a task whose check has ended, or whose time is over. The current state decides, so calls can be
   * repeated, late and out of order.
   */
  look(taskId: string): Promise<void> {
    const { tasks, clock, randomness, store } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await skipUnreadable(tasks.find(taskId));
      if (found === undefined || !isVerifying(found.value)) return;
      const now = clock.now();
      const { check, step } = found.value.proof;
      const started = check === undefined || step === 'person' ? undefined : await skipUnreadable(tasks.find(check));
      const ruling = rulingOf(found.value, started?.value, now);
      if (ruling === undefined) return;
      const ends = started && !isClosed(started.value.status) ? cancelled(started, now) : [];
      const withdrawn = step === 'person' ? await this.endCheck(found.value, now) : [];
      const { task, changes } = await this.ruled(found.value, ruling, now);
      await store.commit([...(await this.changesOf(found, task, now)), ...changes, ...ends, ...withdrawn]);
    });
  }

  private async sweep(turn: SweepContext): Promise<SweepReport> {
    const counts = { looked: 0 };
    const due = (after: SweepContext['from']) => this.ports.tasks.unproven(turn.now, BATCH, after);
    const end = await sweepPages(turn, due, async ({ value }) => {
      try {
        await ignoreStale(this.look(value.id));
        counts.looked++;
      } catch (error) {
        this.ports.log.error('proof_not_continued', { taskId: value.id, error });
      }
    });
    return { ...end, counts };
  }
}

/** Returns what a task's check says now; undefined while the check continues. @param check undefined for a question */
function rulingOf(
  { proof, proof_until: until = proof.since, acceptance }: Verifying,
  check: Task | undefined,
  now: Date,
): Ruling | undefined {
  if (proof.step === 'person')
    return until > now ? undefined : { says: 'nothing', why: `No one has confirmed it in ${ANSWER_DAYS} days.` };
  if (check !== undefined && isClosed(check.status)) return closedRuling(check);
  if (check !== undefined && until > now) return undefined;
  const end = new Date(until.getTime() + acceptance.hours * HOUR_MS);
  const lease = check !== undefined && isHeld(check.status) ? check.claim?.lease_expires_at : undefined;
  if (lease !== undefined && lease > now && end > now) return undefined;
  const who = proof.step === 'command' ? 'No runner has run its command' : 'No one has reviewed it';
  return { says: 'nothing', why: `${who} within ${acceptance.hours} hours.` };
}

/** Returns the ruling of a closed check. An earlier release may have closed it without giving the verdict. */
export function closedRuling({ id, status, reviews, coding, claim, result, error = '' }: Task): Ruling {
  const by = claim?.claimed_by ?? 'muster';
  const { commit, verdict } = reviews ?? {};
  const step = coding === undefined ? 'review' : 'command';
  if (verdict === 'request_changes') return { says: verdict, by, comments: result?.output ?? '', step };
  if (verdict === 'approve' || (coding !== undefined && status === 'done')) return { says: 'approve', by, commit };
  if (coding?.failure?.class === 'acceptance_failed')
    return { says: 'request_changes', by: 'muster', comments: coding.failure.message, step };
  return { says: 'nothing', why: `Its check ${id} ended without a verdict: ${error || status}` };
}

function cancelled({ value, version }: Versioned<Task>, now: Date): CoordinationChange[] {
  const message = 'The result no longer needs this check.';
  const task = withFailure(cancelTask(value, message, now), { class: 'cancelled', message });
  return outcomeChanges(value, { kind: 'accepted', task }, version, now);
}

function withoutCheck({ proof: { check: _over, ...proof }, ...task }: Verifying): Verifying {
  return { ...task, proof };
}

function failed(task: Verifying, error: string, now: Date): Task {
  return { ...withoutProof(task), status: 'failed', error, completed_at: now };
}

function gaveUp({ rounds, sent_back }: Verifying, by: string): string {
  const last = sent_back.at(-1);
  const times = rounds === 1 ? 'once' : `${rounds} times`;
  return last === undefined ? `${by} gave it up.` : `Sent back ${times}; ${by} gave it up. Last: ${last.comments}`;
}

function withCommits(task: Task, commits: Verifying['proof']['commits'] = []): Task {
  const { coding } = asCodingTask(task);
  const ended = coding.attempts.slice(-1).map((one) => ({ ...one, commits: [...commits] }));
  return { ...task, coding: { ...coding, attempts: [...coding.attempts.slice(0, -1), ...ended] } };
}

/** Returns the agent if it is registered and can hold another task. */
export async function freeAgent(
  { agents }: Pick<CoordinationPorts, 'agents'>,
  id: string,
): Promise<Versioned<Agent> | undefined> {
  const found = await skipUnreadable(agents.find(id));
  if (found === undefined) return undefined;
  const { held, configuration } = found.value;
  return Object.keys(held).length < configuration.max_concurrent_tasks ? found : undefined;
}

function unlessTooManyKeys(error: unknown): undefined {
  if (error instanceof MusterError && error.details.reason === 'TOO_MANY_CAPABILITY_SETS') return undefined;
  throw error;
}

const closedCheck = z.object({
  status: z.enum(['done', 'failed', 'cancelled']),
  reviews: z.object({ task_id: z.string() }),
});

/** Returns the task whose check a written document is, if the check has ended. @param written a task's document */
export function checkedTaskOf(written: unknown): string | undefined {
  return closedCheck.safeParse(written).data?.reviews.task_id;
}
