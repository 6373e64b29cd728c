/** Creates issues. Source: the network specification, "github.createIssue". */

import { IDEMPOTENCY_HOURS, type Operation, type RecordResponse } from '../../../kernel/commit.ts';
import { HOUR_MS } from '../../../kernel/ports.ts';
import { outsideRepositories } from './names.ts';
import type { GitHubPorts, NewIssue, RepositoryName } from './ports.ts';
import type { Issue } from './responses.ts';
import { refusal } from './responses.ts';

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
