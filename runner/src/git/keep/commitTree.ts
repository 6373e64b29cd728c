import { type Checkout, gitAt } from '../checkout.ts';

const FALLBACK_IDENTITY = {
  GIT_AUTHOR_NAME: 'Muster runner',
  GIT_AUTHOR_EMAIL: 'muster-runner@localhost',
  GIT_COMMITTER_NAME: 'Muster runner',
  GIT_COMMITTER_EMAIL: 'muster-runner@localhost',
};

/**
 * Creates a commit. `git commit` is not used, because it applies the user's settings for messages and signing.
 * @returns the commit's object name
 */
export async function commitTree(
  checkout: Checkout,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  // Git fails here if the user's name and email address are not set.
  return gitAt(checkout, { input: message })(...args).catch(() =>
    gitAt(checkout, { input: message, set: FALLBACK_IDENTITY })(...args),
  );
}
