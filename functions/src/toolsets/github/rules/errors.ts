/**
 * What GitHub's tools can be refused for. The specification's names are the errors' `reason`, the codes those
 * of "Specific Error Codes". Nothing that GitHub answered is in a message.
 * Source: spec/network.md, "github.readFile", "Error Scenarios".
 */
import { MusterError } from '../../../kernel/errors.ts';
import type { GitHub, RepositoryName } from './port.ts';

export function shownRepository({ owner, repo }: RepositoryName): string {
  return `"${owner}/${repo}"`;
}

export function repositoryNotFound(at: RepositoryName, cause?: unknown): MusterError {
  return new MusterError('NOT_FOUND', `There is no repository ${shownRepository(at)}.`, {
    field: 'repo',
    reason: 'REPO_NOT_FOUND',
    suggestion:
      'Check owner and repo. GitHub also hides private repositories that this deployment may not see.',
    cause,
  });
}

export function accessDenied(what: string, suggestion: string, cause?: unknown): MusterError {
  return new MusterError('FORBIDDEN', what, { reason: 'ACCESS_DENIED', suggestion, cause });
}

/** It can be read, or was a moment ago, and GitHub answers a change as if it were not there. */
function readOnly(at: RepositoryName): MusterError {
  return accessDenied(
    `This deployment may read ${shownRepository(at)}, and not change it.`,
    'Whoever runs it: give the App or the token the permission to write; docs/guides/github.md lists what is needed.',
  );
}

/** It was there a moment ago. */
function vanished(at: RepositoryName): MusterError {
  return new MusterError('CONFLICT', `${shownRepository(at)} has changed while it was being read.`, {
    reason: 'CHANGED_MEANWHILE',
    suggestion: 'This call has changed nothing. Repeat it.',
  });
}

export function archived(cause: string): MusterError {
  return new MusterError('FORBIDDEN', 'The repository is archived: it can only be read.', {
    field: 'repo',
    reason: 'REPO_ARCHIVED',
    suggestion: 'Use another repository, or ask whoever owns it to unarchive it on GitHub.',
    cause,
  });
}

export function blocked(cause: string): MusterError {
  return new MusterError('FORBIDDEN', 'GitHub has blocked this repository for legal reasons (HTTP 451).', {
    field: 'repo',
    reason: 'REPO_BLOCKED',
    suggestion: 'Nobody can read it on GitHub. Use another repository.',
    cause,
  });
}

/** GitHub gives blobs up to 100 MB, and takes less. */
export function tooLargeForGitHub(cause: string): MusterError {
  return new MusterError('VALIDATION_ERROR', 'This is larger than GitHub lets its API carry.', {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Clone the repository for files of this size, or commit them in smaller parts.',
    cause,
  });
}

export function fileNotFound(at: RepositoryName, path: string, ref: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no "${shown(path)}" in ${shownRepository(at)} at "${ref}".`, {
    field: 'path',
    reason: 'FILE_NOT_FOUND',
    suggestion: 'Check the path and its case. Reading a directory lists it.',
  });
}

/** @param defaultBranch where the repository has one, and it is another: a name that GitHub gave */
export function refNotFound(
  at: RepositoryName,
  ref: string,
  field: string,
  defaultBranch?: string,
): MusterError {
  return new MusterError('NOT_FOUND', `${shownRepository(at)} has no branch, tag or commit "${ref}".`, {
    field,
    reason: 'REF_NOT_FOUND',
    suggestion:
      defaultBranch === undefined
        ? 'Check the name. An empty repository has no branch at all.'
        : 'Check the name. data.entries has the default branch.',
    ...(defaultBranch !== undefined && { entries: [defaultBranch] }),
  });
}

/** Primary or secondary. @param retryAfter seconds */
export function rateLimited(retryAfter: number, reset: Date, cause?: unknown): MusterError {
  const until = reset.toISOString();
  return new MusterError('RATE_LIMITED', `GitHub's rate limit is used up until ${until}.`, {
    reason: 'RATE_LIMIT',
    suggestion: `Call again in ${retryAfter} s, and ask for less at a time.`,
    retryAfter,
    cause,
  });
}

export function gitHubUnavailable(reason: 'CONNECTION_ERROR' | 'UNAVAILABLE', cause: unknown): MusterError {
  const what = reason === 'UNAVAILABLE' ? 'answers with errors of its own' : 'cannot be reached';
  return new MusterError('GITHUB_ERROR', `GitHub ${what}.`, {
    reason,
    suggestion: 'Try again in a minute. system.getSystemStatus says whether it is up.',
    cause,
  });
}

/** @param what that may be there, and where to look for it */
export function outcomeUnknown(what: string): MusterError {
  return new MusterError('GITHUB_ERROR', 'GitHub has not answered.', {
    reason: 'OUTCOME_UNKNOWN',
    suggestion: `${what} may have been made all the same: look on GitHub, and repeat the call where it is not there.`,
  });
}

/** It answered, but not as its description says. */
export function unexpectedAnswer(cause: unknown): MusterError {
  return new MusterError('GITHUB_ERROR', 'GitHub answered what nobody expected.', {
    reason: 'UNEXPECTED_ANSWER',
    suggestion: 'Check that what you asked for is possible on GitHub; the log has the details.',
    cause,
  });
}

/** What only who runs the deployment can mend. */
export function gitHubNotSetUp(message: string, cause?: unknown): MusterError {
  return new MusterError('GITHUB_ERROR', message, {
    reason: 'NOT_SET_UP',
    suggestion:
      'Whoever runs this deployment: set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN. See docs/guides/github.md.',
    cause,
  });
}

export function tooSlow(cause: unknown): MusterError {
  return new MusterError('TIMEOUT', 'GitHub did not answer in time.', {
    reason: 'TIMEOUT',
    suggestion: 'Look whether it took effect before you repeat it, or repeat it with its idempotency_key.',
    cause,
  });
}

export function invalidArgument(
  field: string,
  reason: string,
  message: string,
  suggestion: string,
): MusterError {
  return new MusterError('INVALID_FORMAT', message, { field, reason, suggestion });
}

const SHOWN_LENGTH = 200;

export function shown(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

// What GitHub's 404 meant: it says the same of what is not there, of what is hidden, and of what may not be
// changed.

/** What was read, of which GitHub itself had said that it is there. @throws MusterError */
export async function found<T>(
  gitHub: GitHub,
  at: RepositoryName,
  asked: Promise<T | undefined>,
): Promise<T> {
  const answer = await asked;
  if (answer !== undefined) return answer;
  throw (await gitHub.repository(at)) === undefined ? repositoryNotFound(at) : vanished(at);
}

/** What was written. @throws MusterError */
export async function written<T>(
  gitHub: GitHub,
  at: RepositoryName,
  asked: Promise<T | undefined>,
): Promise<T> {
  const answer = await asked;
  if (answer === undefined) throw await unwritable(gitHub, at);
  return answer;
}

/** Why GitHub answers 404 to what would change a repository. */
export async function unwritable(gitHub: GitHub, at: RepositoryName): Promise<MusterError> {
  return (await gitHub.repository(at)) === undefined ? repositoryNotFound(at) : readOnly(at);
}
