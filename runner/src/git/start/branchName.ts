/** Handles branch names that block each other, such as `a` and `a/b`, because git stores branches as files. */

/** Names of the existing branches, in this repository and on "origin". */
export interface ExistingBranches {
  readonly local: ReadonlySet<string>;
  /** Branches of "origin"; undefined if the task's branch is not pushed. */
  readonly origin: ReadonlySet<string> | undefined;
  /** Whether the repository's file system treats "A" and "a" as one name. */
  readonly ignoreCase: boolean;
}

export type BranchChoice =
  | { readonly name: string }
  | { readonly name?: never; readonly blockedBy: string; readonly onOrigin: boolean };

/**
 * Returns the names for a task's branch, the preferred one first. There are alternatives only if the hub chose the
 * name. Such a name contains the task's id, which the task's creator cannot know in advance. Source: `defaultBranch`
 * in functions/src/toolsets/coding/rules/task.ts.
 */
export function branchNames(taskId: string, branch: string): readonly string[] {
  const id = taskId.replace(/^task-|-\d+$/g, '').slice(-8);
  const rest = branch.slice('task/'.length);
  const isChosenByHub = /^task[/-]/.test(branch) && (rest === id || rest.startsWith(`${id}-`));
  return isChosenByHub ? [branch, `task-${rest}`, `task-${rest}-2`] : [branch];
}

/** Chooses the first name that already is a branch, or else the first name that no existing branch blocks. */
export function chooseBranch(names: readonly string[], existing: ExistingBranches): BranchChoice {
  const { local, origin, ignoreCase } = existing;
  const choices = names.map((name): BranchChoice => {
    const here = blockerOf(name, local, ignoreCase);
    if (here !== undefined) return { blockedBy: here, onOrigin: false };
    // GitHub and most other servers distinguish capital and small letters.
    const there = origin && blockerOf(name, origin, false);
    return there === undefined ? { name } : { blockedBy: there, onOrigin: true };
  });
  const possible = choices.filter(({ name }) => name !== undefined);
  const exists = ({ name = '' }: BranchChoice) => local.has(name) || origin?.has(name) === true;
  const chosen = possible.find(exists) ?? possible[0] ?? choices[0];
  if (chosen === undefined) throw new RangeError('A branch needs a name.');
  return chosen;
}

function blockerOf(name: string, others: ReadonlySet<string>, ignoreCase: boolean): string | undefined {
  const folded = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const own = folded(name);
  for (const other of others) {
    const theirs = folded(other);
    if (other === name) continue;
    if (theirs === own || theirs.startsWith(`${own}/`) || own.startsWith(`${theirs}/`)) return other;
  }
  return undefined;
}
