/** Classifies git's errors by their messages (`LC_ALL=C`). Source: `die` and `error` texts in git's source. */

/** Errors that occur while another git process holds a lock, which it usually holds only briefly. */
const LOCKED = /\.lock'?: File exists|another git process|could not lock config file/i;

/** Errors that occur if another worktree uses the branch, or if another process has just created the branch. */
const BUSY =
  /already (?:checked out|used by worktree) at|refusing to fetch into (?:current )?branch|cannot force update the branch '.*' (?:checked out|used by worktree) at|a branch named '.*' already exists|cannot lock ref '.*': reference already exists/i;

const PERMANENT = new RegExp(
  [
    'is not a valid (?:branch )?(?:ref )?name',
    'not a valid object name',
    'unknown revision',
    // Another branch blocks the name, here or on the remote: `a` blocks `a/b`, because git stores branches as files.
    "cannot lock ref '.*': '.*' exists; cannot create",
    "cannot lock ref '.*': there is a non-empty directory",
    "cannot process '.*' and '.*' at the same time",
    'directory file conflict',
    // The remote's rules refuse every push to the branch.
    'protected branch hook declined',
    'pre-receive hook declined',
    'push declined due to repository rule violations',
  ].join('|'),
  'i',
);

const UNREACHABLE =
  /could not resolve|unable to access|connection|timed out|timeout|network|early EOF|hung up|unexpected disconnect|the requested URL returned error: (?:429|5\d\d)/i;

export function isLocked(message: string): boolean {
  return LOCKED.test(message);
}

/** Returns whether the network or the remote's server caused the error, rather than a ref or a credential. */
export function isUnreachable(message: string): boolean {
  return UNREACHABLE.test(message);
}

/** Classifies a git error. Unknown errors count as transient, because a needless retry costs less than lost work. */
export function refusalOf(message: string): RefusalKind {
  if (LOCKED.test(message)) return 'transient';
  if (BUSY.test(message)) return 'busy';
  return PERMANENT.test(message) ? 'permanent' : 'transient';
}

/**
 * Kind of a git error. `transient`: a lock, the network or a full disk; a retry can succeed. `busy`: another worktree
 * or repository blocks the command for now. `permanent`: every retry fails in the same way.
 */
export type RefusalKind = 'transient' | 'busy' | 'permanent';
