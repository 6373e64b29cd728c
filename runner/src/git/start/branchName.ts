/** Branch names that block each other, because git stores a branch as a file and its path as folders. */

/** Existing branches. */
export interface ExistingBranches {
  readonly local: ReadonlySet<string>;
  /** Undefined if the branch is not pushed. */
  readonly origin: ReadonlySet<string> | undefined;
  /** Whether the repository's file system treats "A" and "a" as one name. */
  readonly ignoreCase: boolean;
}

export type BranchChoice =
  | { readonly name: string }
  | { readonly name?: never; readonly blockedBy: string; readonly onOrigin: boolean };

/**
 * Returns the names for a task's branch, the preferred one first. There are alternatives only if the hub chose the
 * name: it then has the task's id, which a task's creator cannot know. Source: `defaultBranch` in
 * functions/src/toolsets/coding/rules/task.ts.
 */
export function branchNames(taskId: string, branch: string): readonly string[] {
  const id = taskId.replace(/^task-|-\d+$/g, '').slice(-8);
  const rest = branch.slice('task/'.length);
  const isChosenByHub = /^task[/-]/.test(branch) && (rest === id || rest.startsWith(`${id}-`));
  return isChosenByHub ? [branch, `task-${rest}`, `task-${rest}-2`] : [branch];
}

/** Chooses the first name that already has a branch, or else the first one available for a new branch. */
export function chooseBranch(names: readonly string[], existing: ExistingBranches): BranchChoice {
  const { local, origin, ignoreCase } = existing;
  const choices = names.map((name): BranchChoice => {
    const here = blockerOf(name, local, ignoreCase);
    if (here !== undefined) return { blockedBy: here, onOrigin: false };
    // GitHub and most other servers distinguish case.
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
