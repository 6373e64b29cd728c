/** Classifies git's refusals by its messages (`LC_ALL=C`). Source: git's own source, `die` and `error` texts. */

/** Another git process holds the lock for a moment. */
const LOCKED = /\.lock'?: File exists|another git process|could not lock config file/i;

/** Another worktree has the branch, or another process has just created it. */
const BUSY =
  /already (?:checked out|used by worktree) at|refusing to fetch into (?:current )?branch|cannot force update the branch '.*' (?:checked out|used by worktree) at|a branch named '.*' already exists|cannot lock ref '.*': reference already exists/i;

const PERMANENT = new RegExp(
  [
    'is not a valid (?:branch )?(?:ref )?name',
    'not a valid object name',
    'unknown revision',
    // A branch blocks another one's name: a file is in the place of a folder, here or on the remote.
    "cannot lock ref '.*': '.*' exists; cannot create",
    "cannot lock ref '.*': there is a non-empty directory",
    "cannot process '.*' and '.*' at the same time",
    'directory file conflict',
    // The remote's rules refuse the branch each time.
    'protected branch hook declined',
    'pre-receive hook declined',
    'push declined due to repository rule violations',
  ].join('|'),
  'i',
);

/** The remote or the way to it does not respond. */
const UNREACHABLE =
  /could not resolve|unable to access|connection|timed out|timeout|network|early EOF|hung up|unexpected disconnect|the requested URL returned error: (?:429|5\d\d)/i;

export function isLocked(message: string): boolean {
  return LOCKED.test(message);
}

/** Returns whether the network or the remote's server has failed, and not a ref or a credential. */
export function isUnreachable(message: string): boolean {
  return UNREACHABLE.test(message);
}

/** Unknown refusals count as transient: a retry costs an attempt, a final failure costs the work. */
export function refusalOf(message: string): RefusalKind {
  if (LOCKED.test(message)) return 'transient';
  if (BUSY.test(message)) return 'busy';
  return PERMANENT.test(message) ? 'permanent' : 'transient';
}

/**
 * Why git refused. `transient`: a lock, the network or a full disk; it can pass. `busy`: another worktree or
 * repository is in the way until it is done. `permanent`: the same command fails in the same way each time.
 */
export type RefusalKind = 'transient' | 'busy' | 'permanent';
