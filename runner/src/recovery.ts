/** Finishes what runners have left that died: on this machine, in this repository. */
import { existsSync } from 'node:fs';
import { commitRest } from './git/commitRest.ts';
import { gitIn } from './git/git.ts';
import type { Repository } from './git/repository.ts';
import { keepSubmodules } from './git/submodules.ts';
import { removeWorktree } from './git/worktree.ts';
import type { Ending, Hub } from './hub/hub.ts';
import { Outbox } from './outbox/outbox.ts';
import { endProcesses } from './process/ending.ts';
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
 * Ends their processes, commits what is in their worktrees and removes them, then starts to send what they had not
 * sent. An attempt without an ending ends as lost, so that the task is free again at once.
 * @returns what is being sent
 */
export async function recover(options: RecoveryOptions): Promise<readonly Outbox[]> {
  const { hubUrl, agentId, attempts } = options;
  const outboxes: Outbox[] = [];
  for (const record of AttemptRecord.adopt(attempts)) {
    await salvage(record, options);
    // Nobody else may end it: its own agent's next runner sends the rest.
    if (record.facts.hub !== hubUrl || record.facts.agentId !== agentId) record.leave();
    else outboxes.push(deliver(record, options));
  }
  return outboxes;
}

async function salvage({ facts }: AttemptRecord, { repository, say }: RecoveryOptions): Promise<void> {
  const { mark, worktree, branch, description, taskId } = facts;
  await endProcesses(mark);
  if (!existsSync(worktree)) return;
  say(`Clearing up after a runner that died at ${taskId}.`);
  try {
    const message = `${description.slice(0, 72)}\n\nMuster-Task: ${taskId}\n`;
    for (const kept of await keepSubmodules({ folder: worktree, git: gitIn(worktree) }, message)) say(kept);
    await commitRest({ folder: worktree, branch }, message);
  } catch (error) {
    say(`What it left could not be committed. ${String(error)}`);
  }
  await removeWorktree(repository, worktree);
}

function deliver(record: AttemptRecord, { hub, heartbeatMs, say }: RecoveryOptions): Outbox {
  const { taskId, epoch, branch } = record.facts;
  const { journal } = record;
  const outbox = new Outbox({ hub, taskId, epoch, journal, heartbeatMs, say });
  const lost: Ending = {
    status: 'failed',
    result: { summary: '', branch },
    failure: { class: 'runner_lost', message: 'The runner died.' },
  };
  void outbox.finish(record.ending ?? lost).then((delivery) => {
    if (delivery.delivered || outbox.stopReason) record.discard();
    else record.leave();
  });
  return outbox;
}
