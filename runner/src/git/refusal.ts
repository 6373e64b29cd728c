/** Classifies git's errors by their messages (`LC_ALL=C`). Source: `die` and `error` texts in git's source. */

/** Another git process briefly holds the lock. */
const LOCKED = /\.lock'?: File exists|another git process|could not lock config file/i;

/** Another worktree uses the branch, or another process has just created it. */
const BUSY =
  /already (?:checked out|used by worktree) at|refusing to fetch into (?:current )?branch|cannot force update the branch '.*' (?:checked out|used by worktree) at|a branch named '.*' already exists|cannot lock ref '.*': reference already exists/i;

const PERMANENT = new RegExp(
  [
    'is not a valid (?:branch )?(?:ref )?name',
    'not a valid object name',
    'unknown revision',
    // Another branch blocks the name: a file is in the place of a folder, here or on the remote.
    "cannot lock ref '.*': '.*' exists; cannot create",
    "cannot lock ref '.*': there is a non-empty directory",
    "cannot process '.*' and '.*' at the same time",
    'directory file conflict',
    // The remote's rules always refuse the branch.
    'protected branch hook declined',
    'pre-receive hook declined',
    'push declined due to repository rule violations',
  ].join('|'),
  'i',
);

/** The remote or the network does not respond. */
const UNREACHABLE =
  /could not resolve|unable to access|connection|timed out|timeout|network|early EOF|hung up|unexpected disconnect|the requested URL returned error: (?:429|5\d\d)/i;

export function isLocked(message: string): boolean {
  return LOCKED.test(message);
}

/** Returns whether the network or the remote's server failed, as opposed to a ref or a credential. */
export function isUnreachable(message: string): boolean {
  return UNREACHABLE.test(message);
}

/** Unknown errors count as transient: a retry costs an attempt, a final failure costs the work. */
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
