/** Creating issues. Source: the network specification, "github.createIssue". */
import { type Operation, REPLAY_HOURS, type RecordAnswer } from '../../../kernel/commit.ts';
import type { Issue } from './answers.ts';
import { refusal } from './answers.ts';
import { outside } from './names.ts';
import type { GitHubPorts, NewIssue, RepositoryName } from './ports.ts';

const MARK_LENGTH = 20;

const HOUR_MILLISECONDS = 3_600_000;

interface CreatedIssue extends Issue {
  /** False where an earlier attempt of the same call had created it. */
  readonly created: boolean;
}

/**
 * Creates an issue with a mark that nobody sees, and then stores the answer under the call's idempotency key. Where
 * GitHub's answer is lost, the issue is found by its mark, and so it is by a repetition, where an instance died in
 * between.
 */
export async function openIssue(
  ports: GitHubPorts,
  at: RepositoryName,
  issue: NewIssue,
  {
    operation,
    recordAnswer,
  }: { readonly operation: Operation; readonly recordAnswer: RecordAnswer<CreatedIssue> },
): Promise<CreatedIssue> {
  const id = operation.derivedId('issue');
  const mark = `<!-- muster:${id ?? ports.randomness.letters(MARK_LENGTH)} -->`;
  const earlier = id === undefined ? undefined : await find(ports, at, mark);
  const outcome = earlier
    ? { ...earlier, created: false }
    : { ...(await createNew(ports, at, issue, mark)), created: true };
  const { number, title } = outcome;
  await ports.store.commit([outside(at, `issue #${number}`, { title })], recordAnswer(outcome));
  return outcome;
}

async function createNew(
  ports: GitHubPorts,
  at: RepositoryName,
  issue: NewIssue,
  mark: string,
): Promise<Issue> {
  const body = issue.body === undefined ? mark : `${issue.body}\n\n${mark}`;
  const made = await ports.gitHub.createIssue(at, { ...issue, body });
  const created = made === 'unanswered' ? await find(ports, at, mark) : made;
  if (created === undefined) throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: 'The issue' });
  return created;
}

function find(ports: GitHubPorts, at: RepositoryName, mark: string): Promise<Issue | undefined> {
  // To the hour, so that the same is asked again, which costs nothing where nothing has changed.
  const hour = Math.floor(ports.clock.now().getTime() / HOUR_MILLISECONDS) - REPLAY_HOURS;
  return ports.gitHub.findIssue(at, mark, new Date(hour * HOUR_MILLISECONDS));
}
