/** Brings a task's branch to "origin", and its pull request to GitHub through the hub's tools. */
import { setTimeout as delay } from 'node:timers/promises';
import { GitError } from '../git/git.ts';
import { pushBranch } from '../git/push.ts';
import type { Repository } from '../git/repository.ts';
import { HubUnreachable } from '../hub/connection.ts';
import type { ClaimedTask, Hub } from '../hub/hub.ts';
import type { TaskConfig } from './config.ts';

/** About five minutes in all. */
const ATTEMPTS = 12;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

/** What git says when it is the network, not the remote, that refuses. */
const NETWORK = /could not resolve|unable to access|connection|timed out|timeout|network|early EOF|hung up/i;

export interface HandoverOptions {
  readonly repository: Repository;
  readonly hub: Pick<Hub, 'createPullRequest'>;
  readonly task: ClaimedTask;
  /** `owner/name` */
  readonly project: string | undefined;
  readonly branch: string;
  /** Into which it is to be merged, unless the wish says. */
  readonly base: string | undefined;
  readonly summary: string;
  readonly wish: TaskConfig['pullRequest'];
  /** Aborted when there is no more time to wait for the network. */
  readonly signal: AbortSignal;
}

export async function handOver(options: HandoverOptions) {
  const { repository, hub, task, project, branch, summary, wish, signal } = options;
  if (!repository.hasOrigin) throw new Error('There is no remote "origin" to push the branch to.');
  await persistently(() => pushBranch(repository.git, branch), signal);
  if (wish === undefined) return undefined;
  const [owner, repo] = project?.split('/') ?? [];
  if (!owner || !repo)
    throw new Error('Which repository on GitHub? Start the runner with --project <owner/name>.');
  const base = wish.base ?? options.base;
  if (base === undefined) throw new Error('Which branch is it for? Say so in config.pullRequest.base.');
  const [subject = ''] = task.description.trim().split('\n');
  const draft = {
    owner,
    repo,
    title: (wish.title ?? subject).slice(0, 256),
    body: wish.body ?? summary,
    head: branch,
    base,
    draft: wish.draft,
    task_id: task.id,
  };
  // A repeated call answers the pull request that the first one made.
  return persistently(() => hub.createPullRequest(draft), signal);
}

/** Tries again for as long as it is the network that fails. */
async function persistently<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const passes =
        error instanceof HubUnreachable || (error instanceof GitError && NETWORK.test(error.message));
      if (!passes || attempt === ATTEMPTS || signal.aborted) throw error;
      const wait = Math.min(FIRST_RETRY_MS * 2 ** attempt, LAST_RETRY_MS);
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  }
}
