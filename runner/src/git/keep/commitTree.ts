import { type Checkout, gitAt } from '../checkout.ts';

const FALLBACK_IDENTITY = {
  GIT_AUTHOR_NAME: 'Muster runner',
  GIT_AUTHOR_EMAIL: 'muster-runner@localhost',
  GIT_COMMITTER_NAME: 'Muster runner',
  GIT_COMMITTER_EMAIL: 'muster-runner@localhost',
};

/**
 * Creates a commit without `git commit`, to which the user's settings for messages, templates and signing apply.
 * @returns the commit's object name
 */
export async function commitTree(
  checkout: Checkout,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  // Git refuses to commit if the user's name and email address are not set.
  return gitAt(checkout, { input: message })(...args).catch(() =>
    gitAt(checkout, { input: message, set: FALLBACK_IDENTITY })(...args),
  );
}
