/** Classifies git's refusals by its messages (`LC_ALL=C`). Source: git's own source, `die` and `error` texts. */
import type { RefusalKind } from './git.ts';

/** Another git process holds the lock for a moment. */
const LOCKED = /\.lock'?: File exists|another git process|could not lock config file/i;

const BUSY = /already (?:checked out|used by worktree) at|refusing to fetch into (?:current )?branch/i;

const PERMANENT = /is not a valid (?:branch )?(?:ref )?name|not a valid object name|unknown revision/i;

export function isLocked(message: string): boolean {
  return LOCKED.test(message);
}

/** Unknown refusals count as transient: a retry costs an attempt, a final failure costs the work. */
export function refusalOf(message: string): RefusalKind {
  if (BUSY.test(message)) return 'busy';
  return PERMANENT.test(message) ? 'permanent' : 'transient';
}
