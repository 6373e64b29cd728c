/** Creating pull requests, and the task of each. Source: spec/network.md. */
import { hasRole, type Principal, roleIn } from '../../../access/rules/principal.ts';
import type { Change, RecordAnswer } from '../../../kernel/commit.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { isClosed, taskNotFound } from '../../coordination/index.ts';
import type { PullRequestLink } from '../store/pullRequests.ts';
import type { PullRequest } from './answers.ts';
import { refusal } from './errors.ts';
import { headName, outside, refName } from './names.ts';
import type { GitHubPorts, NewPullRequest, RepositoryName } from './ports.ts';
import { reachable } from './reach.ts';

interface PullRequestRequest {
  readonly principal: Principal;
  readonly workspace: string;
  readonly at: RepositoryName;
  readonly pullRequest: NewPullRequest;
  /** The task that is done when it is merged. */
  readonly taskId: string | undefined;
}

export interface CreatedPullRequest extends PullRequest {
  /** False where there was an open one from the same branch into the same branch. */
  readonly created: boolean;
}

/** Creates a pull request, or gives the open one; then notes its task together with the call's answer. */
export async function openPullRequest(
  ports: GitHubPorts,
  request: PullRequestRequest,
  recordAnswer: RecordAnswer<CreatedPullRequest>,
) {
  const { at, taskId, pullRequest } = request;
  const { owner = at.owner, branch } = headName(pullRequest.head);
  refName(pullRequest.base, 'base');
  if (owner !== at.owner) await reachable(ports, request, { owner, repo: at.repo });
  if (taskId !== undefined) await requireTask(ports, request, taskId);
  const outcome = await findOrCreate(ports, at, `${owner}:${branch}`, withTask(pullRequest, taskId));
  const { store, randomness } = ports;
  return retryStale(randomness, async () => {
    const changes = taskId === undefined ? [] : await linkChanges(ports, request, taskId, outcome);
    const made = outside(at, `pull request #${outcome.number}`, { head: pullRequest.head });
    await store.commit([made, ...changes], recordAnswer(outcome));
    return outcome;
  });
}

async function findOrCreate(
  ports: GitHubPorts,
  at: RepositoryName,
  head: string,
  pullRequest: NewPullRequest,
): Promise<CreatedPullRequest> {
  const { gitHub } = ports;
  const open = await gitHub.findPullRequest(at, head, pullRequest.base);
  if (open !== undefined) return { ...open, created: false };
  const created = await gitHub.createPullRequest(at, pullRequest);
  if (typeof created !== 'string') return { ...created, created: true };
  const there = await gitHub.findPullRequest(at, head, pullRequest.base);
  const isOurs = created === 'unanswered'; // There was none a moment ago, and otherwise somebody else was faster.
  if (there !== undefined) return { ...there, created: isOurs };
  if (isOurs) throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: 'The pull request' });
  throw refusal('NOT_FOUND', 'ref', { ...at, ref: pullRequest.head, field: 'head' });
}

/** Whoever links a pull request to a task decides when it is done: its holder does, or a leader. */
async function requireTask(
  ports: GitHubPorts,
  { principal, workspace }: PullRequestRequest,
  taskId: string,
): Promise<void> {
  const task = (await ports.tasks.find(taskId))?.value;
  if (task?.workspace !== workspace) throw taskNotFound(taskId);
  const { status } = task;
  if (isClosed(status)) throw refusal('CONFLICT', 'taskIsClosed', { taskId, status });
  const holder = task.claim?.agentId;
  const role = roleIn(principal, workspace) ?? 'viewer';
  if (holder === undefined || holder === principal.agentId || hasRole(role, 'leader')) return;
  throw refusal('FORBIDDEN', 'notHolder', { taskId, holder });
}

async function linkChanges(
  ports: GitHubPorts,
  { principal, at }: PullRequestRequest,
  taskId: string,
  { repositoryId, number }: PullRequest,
): Promise<readonly Change[]> {
  const { pullRequestLinks, clock } = ports;
  const known = await pullRequestLinks.find(repositoryId, number);
  if (known?.taskId === taskId) return [];
  if (known !== undefined) {
    throw refusal('CONFLICT', 'linkedToAnotherTask', { number, taskId: known.taskId });
  }
  const link = { repositoryId, number, ...at, taskId, linkedBy: principal.uid, linkedAt: clock.now() };
  return [{ kind: 'linkPullRequest', link }];
}

/** For people who read the pull request; Muster itself goes by what it stored. */
function withTask(pullRequest: NewPullRequest, taskId: string | undefined): NewPullRequest {
  if (taskId === undefined) return pullRequest;
  const line = `Muster-Task: ${taskId}`;
  const { body } = pullRequest;
  return { ...pullRequest, body: body === undefined ? line : `${body}\n\n${line}` };
}

/** What commits may change of links. */
export interface LinkChanges {
  readonly linkPullRequest: { readonly link: PullRequestLink };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends LinkChanges {}
}
