/** Finishes the attempts of killed runners, on this machine and in this repository. */
import { existsSync } from 'node:fs';
import { settle } from './git/keep/settle.ts';
import type { Repository } from './git/repository.ts';
import {
  type Before,
  leaveWorktree,
  noteBefore,
  registrationOf,
  removeRemains,
  removeWorktree,
  type Worktree,
} from './git/worktree.ts';
import type { Ending, Hub } from './hub/hub.ts';
import { Outbox } from './outbox/outbox.ts';
import { endProcesses } from './process/identity.ts';
import { commitMessage } from './task/commitMessage.ts';
import { AttemptRecord } from './task/record.ts';

export interface RecoveryOptions {
  readonly repository: Repository;
  readonly hub: Hub;
  readonly hubUrl: string;
  readonly agentId: string;
  readonly attempts: string;
  readonly heartbeatMs: number;
  readonly say: (message: string) => void;
}

/**
 * Ends the attempts' processes, commits and removes their worktrees, then starts sending unsent entries. Attempts
 * without an ending are reported as lost, so that their tasks are available immediately.
 * @returns the outboxes that send the unsent entries
 */
export async function recover(options: RecoveryOptions): Promise<readonly Outbox[]> {
  const { hubUrl, agentId, attempts, say } = options;
  const outboxes: Outbox[] = [];
  for (const record of AttemptRecord.adopt(attempts)) {
    const { taskId } = record.facts;
    const warnings = await salvage(record, options);
    for (const warning of warnings) say(`${taskId}: ${warning}`);
    // Only a runner with the same hub and agent can send the ending.
    if (record.facts.hub !== hubUrl || record.facts.agentId !== agentId) record.leave();
    else outboxes.push(deliver(record, warnings, options));
  }
  return outboxes;
}

/** @returns sentences about work that is kept outside the branch */
async function salvage(record: AttemptRecord, { repository, say }: RecoveryOptions): Promise<readonly string[]> {
  const { mark, taskId } = record.facts;
  const { commonDir } = repository;
  const { worktree: folder } = record.facts;
  const gitDir = registrationOf(commonDir, folder);
  const { phase } = record;
  if (phase === 'kept' || (!existsSync(folder) && gitDir === undefined)) return [];
  say(`${taskId}: recovering the work of a killed runner.`);
  if (!(await endProcesses(mark))) {
    if (gitDir !== undefined) await leaveWorktree({ folder, gitDir, commonDir });
    return [`Processes of a killed runner may still be running. The worktree is kept: ${folder}`];
  }
  if (phase === 'opening' || phase === 'settled') return asList(removeRemains(commonDir, folder));
  return finishWork(record, repository);
}

/** Commits an attempt's work and removes its worktree. Keeps the worktree if that fails. */
async function finishWork(record: AttemptRecord, repository: Repository): Promise<readonly string[]> {
  const { branch, description, taskId, worktree: folder } = record.facts;
  const { commonDir } = repository;
  const gitDir = record.work?.gitDir ?? registrationOf(commonDir, folder) ?? `${commonDir}/worktrees/unknown`;
  const startedAt = record.work?.before.startedAt ?? (await branchHead(repository, branch));
  const worktree: Worktree = { folder, gitDir, commonDir, branch, startedAt };
  try {
    const before: Before = record.work?.before ?? (await noteBefore(worktree, record.baseline));
    const settled = await settle({
      worktree,
      before,
      baseline: record.baseline,
      index: record.index,
      message: commitMessage(description, taskId),
    });
    const why = settled.problem ?? settled.stays;
    if (why !== undefined) {
      if (settled.problem === undefined) record.mark('kept');
      await leaveWorktree(worktree);
      return [...settled.notes, `${why} The worktree is kept: ${folder}`];
    }
    record.mark('settled');
    return [...settled.notes, ...asList(await removeWorktree(worktree))];
  } catch (error) {
    return [`${error instanceof Error ? error.message : String(error)} The worktree is kept: ${folder}`];
  }
}

const asList = (problem: string | undefined): readonly string[] => (problem === undefined ? [] : [problem]);

/** Returns the commit of the branch, used if the record of the attempt's work is unreadable. */
async function branchHead({ git }: Repository, branch: string): Promise<string> {
  return git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`).catch(() => git('rev-parse', 'HEAD'));
}

function deliver(
  record: AttemptRecord,
  warnings: readonly string[],
  { hub, heartbeatMs, say }: RecoveryOptions,
): Outbox {
  const { taskId, epoch, branch } = record.facts;
  const { journal } = record;
  const outbox = new Outbox({ hub, taskId, epoch, journal, heartbeatMs, say });
  const lost: Ending = {
    status: 'failed',
    result: { summary: '', branch, ...(warnings.length > 0 && { warnings }) },
    failure: { class: 'runner_lost', message: ['The runner was killed.', ...warnings].join(' ') },
  };
  void outbox.finish(record.ending ?? lost).then((delivery) => {
    if (delivery.delivered || outbox.stopReason) record.discard();
    else record.leave();
  });
  return outbox;
}
