import { type Checkout, gitAt } from '../checkout.ts';
import { gitIn, succeeds } from '../git.ts';

const FALLBACK_IDENTITY = {
  GIT_AUTHOR_NAME: 'Muster runner',
  GIT_AUTHOR_EMAIL: 'muster-runner@localhost',
  GIT_COMMITTER_NAME: 'Muster runner',
  GIT_COMMITTER_EMAIL: 'muster-runner@localhost',
};

/**
 * Makes a commit without `git commit`, which the user's settings for messages, templates and signing would change.
 * @returns its object name
 */
export async function commitTree(
  checkout: Checkout,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const isKnown = await succeeds(gitIn(checkout.folder), 'var', 'GIT_COMMITTER_IDENT');
  const git = gitAt(checkout, { input: message, ...(!isKnown && { set: FALLBACK_IDENTITY }) });
  return git('commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-');
}
