/**
 * What GitHub's tools can be refused for. The specification's names are the errors' `reason`, the codes those
 * of "Specific Error Codes". Nothing that GitHub answered is in a message.
 * Source: spec/network.md, "github.readFile", "Error Scenarios".
 */
import { MusterError } from '../../../kernel/errors.ts';
import type { RepositoryName } from './ports.ts';

export function shownRepository({ owner, repo }: RepositoryName): string {
  return `"${owner}/${repo}"`;
}

export function repositoryNotFound(at: RepositoryName): MusterError {
  return new MusterError('NOT_FOUND', `There is no repository ${shownRepository(at)}.`, {
    field: 'repo',
    reason: 'REPO_NOT_FOUND',
    suggestion:
      'Check owner and repo. GitHub also hides private repositories that this deployment may not see.',
  });
}

export function accessDenied(message: string, suggestion: string, cause?: unknown): MusterError {
  return new MusterError('FORBIDDEN', message, { reason: 'ACCESS_DENIED', suggestion, cause });
}

/** It can be read, or was a moment ago, and GitHub answers a change as if it were not there. */
export function readOnly(at: RepositoryName): MusterError {
  return accessDenied(
    `This deployment may read ${shownRepository(at)}, and not change it.`,
    'Whoever runs it: give the App or the token the permission to write; docs/guides/github.md lists what is needed.',
  );
}

/** It was there a moment ago. */
export function vanished(at: RepositoryName): MusterError {
  return new MusterError('CONFLICT', `${shownRepository(at)} has changed while it was being read.`, {
    reason: 'CHANGED_MEANWHILE',
    suggestion: 'This call has changed nothing. Repeat it.',
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

export function issuesAreOff(): MusterError {
  return new MusterError('CONFLICT', 'This repository has no issues: they are switched off.', {
    field: 'repo',
    reason: 'ISSUES_DISABLED',
    suggestion: 'Use another repository, or add a discovery or a task here.',
  });
}

export function nothingToMerge(head: string, base: string): MusterError {
  return new MusterError('CONFLICT', `"${head}" has no commits that "${base}" lacks.`, {
    field: 'head',
    reason: 'NO_COMMITS',
    suggestion: 'Commit something first, with github.commitFiles.',
  });
}

export function noSuchBranch(field: 'head' | 'base', name: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no branch "${name}".`, {
    field,
    reason: 'REF_NOT_FOUND',
    suggestion: 'Create it first, with github.createBranch.',
  });
}

export function isProtected(branch: string): MusterError {
  return new MusterError('FORBIDDEN', `Branch "${branch}" is protected.`, {
    field: 'branch',
    reason: 'PROTECTED_BRANCH',
    suggestion: 'Nothing was committed. Commit to a branch of your own and open a pull request.',
  });
}

export function gitHubUnavailable(reason: 'CONNECTION_ERROR' | 'UNAVAILABLE', cause: unknown): MusterError {
  const what = reason === 'UNAVAILABLE' ? 'answers with errors of its own' : 'cannot be reached';
  return gitHubError(
    `GitHub ${what}.`,
    reason,
    'Try again in a minute. system.getSystemStatus says whether it is up.',
    cause,
  );
}

/** @param what that may be there, and where to look for it */
export function outcomeUnknown(what: string): MusterError {
  return gitHubError(
    'GitHub has not answered.',
    'OUTCOME_UNKNOWN',
    `${what} may have been made all the same: look on GitHub, and repeat the call where it is not there.`,
  );
}

/** It answered, but not as its description says. */
export function unexpectedAnswer(cause: unknown): MusterError {
  return gitHubError(
    'GitHub answered what nobody expected.',
    'UNEXPECTED_ANSWER',
    'Check that what you asked for is possible on GitHub; the log has the details.',
    cause,
  );
}

/** What only who runs the deployment can mend. */
export function gitHubNotSetUp(message: string, cause?: unknown): MusterError {
  return gitHubError(
    message,
    'NOT_SET_UP',
    'Whoever runs this deployment: set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN. See docs/guides/github.md.',
    cause,
  );
}

function gitHubError(message: string, reason: string, suggestion: string, cause?: unknown): MusterError {
  return new MusterError('GITHUB_ERROR', message, { reason, suggestion, cause });
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
