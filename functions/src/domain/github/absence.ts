/** What GitHub's 404 meant: it says the same of what is not there, of what is hidden, and of what may not be changed. */
import type { MusterError } from '../errors.ts';
import { readOnly, repositoryNotFound, vanished } from './errors.ts';
import type { GitHub } from './port.ts';
import type { RepositoryName } from './repository.ts';

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
