/** Brings a task's branch to "origin", and its pull request to GitHub through the hub's tools. */
import type { Repository } from '../git/repository.ts';
import type { ClaimedTask, Hub } from '../hub/hub.ts';
import type { TaskConfig } from './config.ts';

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
}

export async function handOver(options: HandoverOptions) {
  const { repository, hub, task, project, branch, summary, wish } = options;
  if (!repository.hasOrigin) throw new Error('There is no remote "origin" to push the branch to.');
  // Never forced: what somebody else has pushed meanwhile stays.
  await repository.git('push', '--quiet', 'origin', `refs/heads/${branch}:refs/heads/${branch}`);
  if (wish === undefined) return undefined;
  const [owner, repo] = project?.split('/') ?? [];
  if (!owner || !repo)
    throw new Error('Which repository on GitHub? Start the runner with --project <owner/name>.');
  const base = wish.base ?? options.base;
  if (base === undefined) throw new Error('Which branch is it for? Say so in config.pullRequest.base.');
  const [subject = ''] = task.description.trim().split('\n');
  return hub.createPullRequest({
    owner,
    repo,
    title: (wish.title ?? subject).slice(0, 256),
    body: wish.body ?? summary,
    head: branch,
    base,
    draft: wish.draft,
    task_id: task.id,
  });
}
