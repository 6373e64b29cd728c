/** Pushes a task's branch to "origin", and opens its pull request on GitHub with the hub's tools. */
import { GitError } from '../git/git.ts';
import { pushBranch } from '../git/push.ts';
import { isUnreachable } from '../git/refusal.ts';
import type { Repository } from '../git/repository.ts';
import { persistently } from '../git/start/persistence.ts';
import type { StartingPoint } from '../git/start/startingPoint.ts';
import { HubUnreachable } from '../hub/connection.ts';
import type { ClaimedTask, Hub } from '../hub/hub.ts';
import type { Redactor } from '../redaction.ts';
import { cut } from '../text.ts';
import type { TaskConfig } from './config.ts';
import { AttemptFailure } from './failure.ts';

/** The attempts to push or to open a pull request take about five minutes in total. */
const PERSISTENCE = { attempts: 12, firstWaitMs: 1000, lastWaitMs: 30_000 };

/** Pull request for a task's work, which is pushed to "origin". */
export interface Destination {
  readonly pullRequest?: { readonly owner: string; readonly repo: string; readonly base: string };
}

export interface DestinationWishes {
  readonly repository: Pick<Repository, 'hasOrigin' | 'project'>;
  /** `owner/name` of the repository on GitHub, or a label that only the hub uses. */
  readonly project: string | undefined;
  readonly config: Pick<TaskConfig, 'base' | 'pullRequest'>;
  readonly start: Pick<StartingPoint, 'branch' | 'base' | 'originBranches'>;
}

/**
 * Determines the destination of a task's work before an agent starts.
 * @throws AttemptFailure if the task needs a push or a pull request that is impossible
 */
export function destinationOf({ repository, project, config, start }: DestinationWishes): Destination {
  if (!repository.hasOrigin)
    throw new AttemptFailure('crashed', 'The branch cannot be pushed: the repository has no remote "origin".');
  if (config.pullRequest === undefined) return {};
  const [owner, repo] = (isGitHubName(project) ? project : repository.project)?.split('/') ?? [];
  if (!owner || !repo)
    throw new AttemptFailure(
      'crashed',
      'The pull request has no repository, because the remote "origin" is not on github.com. Start the runner with --project <owner/name>.',
    );
  const isNamed = isGitHubName(project) && project !== repository.project;
  const base = baseBranchOf({ config, start }, isNamed);
  return { pullRequest: { owner, repo, base } };
}

const isGitHubName = (project: string | undefined): project is string =>
  project !== undefined && /^[\w.-]+\/[\w.-]+$/.test(project);

/** @param isElsewhere whether the pull request's repository can differ from "origin" */
function baseBranchOf({ config, start }: Pick<DestinationWishes, 'config' | 'start'>, isElsewhere: boolean): string {
  const named = config.pullRequest?.base;
  const base = named ?? start.base.branch;
  // If the task does not set the base, a runner with another base can succeed.
  const retryable = named === undefined && config.base === undefined;
  const refuse = (reason: string): never => {
    const advice = 'Set config.pullRequest.base to the branch into which to merge.';
    throw new AttemptFailure('crashed', `The pull request has no valid base: ${reason}. ${advice}`, { retryable });
  };
  if (base === undefined) return refuse(`the base of the work is ${start.base.description}`);
  if (base === start.branch) return refuse(`"${base}" is the task's own branch`);
  if (start.originBranches?.has(base) === false && !(isElsewhere && named !== undefined))
    return refuse(`origin has no branch "${base}"`);
  return base;
}

/** Maximum length of a pull request's title on GitHub. */
const MAX_TITLE_CHARACTERS = 256;

export interface HandoverOptions {
  readonly repository: Pick<Repository, 'git'>;
  readonly hub: Pick<Hub, 'createPullRequest'>;
  readonly task: ClaimedTask;
  readonly redactor: Redactor;
  readonly branch: string;
  readonly summary: string;
  /** Pull request that the task asks for; undefined if the work is not finished. */
  readonly wish: TaskConfig['pullRequest'];
  readonly destination: Destination;
  /** Called when "origin" has the work. */
  readonly onPushed: () => void;
  readonly signal: AbortSignal;
}

/** Thrown if "origin" does not have the work after a push. */
export class PushRefused extends Error {
  /** Whether a later push can succeed. */
  readonly isPassing: boolean;

  constructor(cause: GitError) {
    super(`The branch could not be pushed. ${cause.message}`, { cause });
    this.isPassing = cause.kind !== 'permanent';
  }
}

/**
 * Pushes the branch and opens the pull request.
 * @throws PushRefused if "origin" does not have the work; any other error concerns the pull request
 */
export async function handOver(options: HandoverOptions) {
  const { repository, hub, task, redactor, branch, summary, wish, destination, onPushed, signal } = options;
  const persistence = { ...PERSISTENCE, canPass, signal };
  await persistently(() => pushBranch(repository.git, branch), persistence).catch((error: unknown) => {
    throw error instanceof GitError ? new PushRefused(error) : error;
  });
  onPushed();
  if (wish === undefined || destination.pullRequest === undefined) return undefined;
  const [subject = ''] = task.description.trim().split('\n');
  const draft = {
    ...destination.pullRequest,
    title: cut(redactor.text(wish.title ?? subject), MAX_TITLE_CHARACTERS),
    body: redactor.text(wish.body ?? summary),
    head: branch,
    draft: wish.draft,
    task_id: task.id,
  };
  // A repeated call returns the pull request that the first call created.
  return persistently(() => hub.createPullRequest(draft), persistence);
}

function canPass(error: unknown): boolean {
  return error instanceof HubUnreachable || (error instanceof GitError && isUnreachable(error.message));
}
