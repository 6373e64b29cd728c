/** Creates issues, and pull requests with links to their tasks. Source: the network specification. */
import { keyOfNode, type NodeRef, nodeKey } from '../../../graph/rules/graphNode.ts';
import { linkToParent, pathOf } from '../../../graph/rules/linking.ts';
import { hasRoleIn, type Principal } from '../../../identity/rules/principal.ts';
import { IDEMPOTENCY_HOURS, type Operation, type RecordResponse } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { HOUR_MS } from '../../../kernel/ports.ts';
import { isClosed, taskNotFound } from '../../coordination/index.ts';
import { linkId, linkNode, type PullRequestLink } from './link.ts';
import { headName, outsideRepositories, refName } from './names.ts';
import type { GitHubChange, GitHubPorts, NewIssue, NewPullRequest, RepositoryName } from './ports.ts';
import { requireReachable } from './reach.ts';
import { type Issue, type PullRequest, refusal } from './responses.ts';

interface PullRequestRequest {
  readonly principal: Principal;
  readonly workspace: string;
  readonly at: RepositoryName;
  readonly pullRequest: NewPullRequest;
  readonly taskId: string | undefined;
  /** Item that the pull request is part of. Ignored if `taskId` is set. */
  readonly part_of?: NodeRef | undefined;
}

export interface CreatedPullRequest extends PullRequest {
  /** False if an open pull request for the same branches already existed. */
  readonly created: boolean;
  /** Id for system.getTree; absent if the pull request is not part of another item. */
  readonly id?: string;
}

/** Creates a pull request, or returns the open one. Stores its link in the same commit as the response. */
export async function openPullRequest(
  ports: GitHubPorts,
  request: PullRequestRequest,
  recordResponse: RecordResponse<CreatedPullRequest>,
) {
  const { at, taskId, pullRequest } = request;
  const { owner = at.owner, branch } = headName(pullRequest.head);
  refName(pullRequest.base, 'base');
  if (owner !== at.owner) await requireReachable(ports, request, { owner, repo: at.repo });
  if (taskId !== undefined) await requireTask(ports, request, taskId);
  else if (request.part_of !== undefined) await linkToParent(ports, { ...request, part_of: request.part_of });
  const outcome = await findOrCreate(ports, at, `${owner}:${branch}`, withTask(pullRequest, taskId));
  const { store, randomness } = ports;
  return retryOnConflict(randomness, async () => {
    const { id, changes } = await linkChanges(ports, request, outcome);
    const made = outsideRepositories(at, `pull request #${outcome.number}`, { head: pullRequest.head });
    const linked = { ...outcome, ...(id !== undefined && { id }) };
    await store.commit([made, ...changes], recordResponse(linked));
    return linked;
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
  const isOurs = created === 'unanswered'; // Otherwise, another caller has created it between the two requests.
  if (there !== undefined) return { ...there, created: isOurs };
  if (isOurs) throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: 'The pull request' });
  throw refusal('NOT_FOUND', 'ref', { ...at, ref: pullRequest.head, field: 'head' });
}

/** Only the task's holder or a leader may link a pull request to the task, because the merge completes the task. */
async function requireTask(
  ports: GitHubPorts,
  { principal, workspace }: PullRequestRequest,
  taskId: string,
): Promise<void> {
  const task = (await ports.tasks.find(taskId))?.value;
  if (task?.workspace !== workspace) throw taskNotFound(taskId);
  const { status } = task;
  if (isClosed(status)) throw refusal('CONFLICT', 'taskIsClosed', { taskId, status });
  const holder = task.claim?.claimed_by;
  if (holder === undefined || holder === principal.agent_id || hasRoleIn(principal, workspace, 'leader')) return;
  throw refusal('FORBIDDEN', 'notHolder', { taskId, holder });
}

/**
 * Returns the changes that link the pull request to its task or parent; none if this link already exists.
 * @throws MusterError CONFLICT if it is part of another item, or if the parent is itself a part of the pull request
 */
async function linkChanges(
  ports: GitHubPorts,
  { principal, workspace, at, taskId = '', part_of: given }: PullRequestRequest,
  { repositoryId, number, title }: PullRequest,
): Promise<{ readonly id?: string; readonly changes: readonly GitHubChange[] }> {
  const { pullRequestLinks, clock } = ports;
  const partOf: NodeRef | undefined = taskId === '' ? given : { kind: 'task', id: taskId };
  if (partOf === undefined) return { changes: [] };
  const known = (await pullRequestLinks.find(repositoryId, number))?.value;
  const id = linkId({ repository_id: repositoryId, number });
  if (known !== undefined) {
    const { part_of: before = { kind: 'task', id: known.task_id } } = known;
    if (nodeKey(before) === nodeKey(partOf)) return { id, changes: [] };
    const parent = await ports.nodes[partOf.kind](partOf.id, { principal, workspace });
    const path = parent === undefined ? [] : pathOf(parent.value);
    const round = path.slice(0, path.indexOf(keyOfNode(linkNode(known))) + 1);
    if (round.length > 0) throw refusal('CONFLICT', 'partOfItself', { number, path: round.join(' in ') });
    if (known.task_id !== '') throw refusal('CONFLICT', 'linkedToAnotherTask', { number, taskId: known.task_id });
    throw refusal('CONFLICT', 'partOfAnother', { number });
  }
  const { parents, changes } = await linkToParent(ports, { part_of: partOf, principal, workspace });
  const names = { repository_id: repositoryId, number, ...at, title, workspace };
  const origin = { task_id: taskId, linked_by: principal.uid, linked_at: clock.now() };
  const link: PullRequestLink = { ...names, ...origin, state: 'open', checks: [], ...parents };
  return { id, changes: [{ kind: 'linkPullRequest', link }, ...changes] };
}

/** Writes the task id into the pull request's text for people to read. Muster itself uses only the stored link. */
function withTask(pullRequest: NewPullRequest, taskId: string | undefined): NewPullRequest {
  if (taskId === undefined) return pullRequest;
  const line = `Muster-Task: ${taskId}`;
  const { body } = pullRequest;
  return { ...pullRequest, body: body === undefined ? line : `${body}\n\n${line}` };
}

const MARK_LENGTH = 20;

interface CreatedIssue extends Issue {
  /** False if an earlier attempt of this call has created the issue. */
  readonly created: boolean;
}

/**
 * Creates an issue with a hidden marker in its text, then stores the response under the call's idempotency key. If
 * GitHub's response is lost or the instance crashes, the repeated call finds the issue by its marker.
 */
export async function openIssue(
  ports: GitHubPorts,
  at: RepositoryName,
  issue: NewIssue,
  {
    operation,
    recordResponse,
  }: { readonly operation: Operation; readonly recordResponse: RecordResponse<CreatedIssue> },
): Promise<CreatedIssue> {
  const id = operation.derivedId('issue');
  const mark = `<!-- muster:${id ?? ports.randomness.letters(MARK_LENGTH)} -->`;
  const earlier = id === undefined ? undefined : await find(ports, at, mark);
  const outcome = earlier
    ? { ...earlier, created: false }
    : { ...(await createNew(ports, at, issue, mark)), created: true };
  const { number, title } = outcome;
  await ports.store.commit([outsideRepositories(at, `issue #${number}`, { title })], recordResponse(outcome));
  return outcome;
}

async function createNew(ports: GitHubPorts, at: RepositoryName, issue: NewIssue, mark: string): Promise<Issue> {
  const body = issue.body === undefined ? mark : `${issue.body}\n\n${mark}`;
  const made = await ports.gitHub.createIssue(at, { ...issue, body });
  const created = made === 'unanswered' ? await find(ports, at, mark) : made;
  if (created === undefined) throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: 'The issue' });
  return created;
}

function find(ports: GitHubPorts, at: RepositoryName, mark: string): Promise<Issue | undefined> {
  // Rounded to the hour, so that repeated requests are equal. GitHub's rate limit does not count equal requests.
  const hour = Math.floor(ports.clock.now().getTime() / HOUR_MS) - IDEMPOTENCY_HOURS;
  return ports.gitHub.findIssue(at, mark, new Date(hour * HOUR_MS));
}
