/** Making and moving branches, also where GitHub's answer is lost. */
import { MusterError } from '../errors.ts';
import { found, unwritable, written } from './absence.ts';
import { outcomeUnknown } from './errors.ts';
import type { GitHub } from './port.ts';
import type { RepositoryName } from './repository.ts';

/** How often something is sent whose answer is lost. */
const MAX_ATTEMPTS = 3;

/** How many commits others may have built on one whose answer was lost. */
const MAX_LOOKED_THROUGH = 20;

/** A commit and the one that it was made onto. */
interface PlacedCommit {
  readonly sha: string;
  readonly parent: string;
}

export class Branches {
  private readonly gitHub: GitHub;

  constructor(gitHub: GitHub) {
    this.gitHub = gitHub;
  }

  /** Whether it was not there before. What is sent again after a lost answer meets its own branch. */
  async make(at: RepositoryName, name: string, sha: string, attempt = 1): Promise<boolean> {
    const answer = await this.gitHub.createBranch(at, name, sha);
    if (answer === undefined) throw await unwritable(this.gitHub, at);
    if (answer === 'created') return true;
    if (answer === 'exists') {
      await this.requireBranchAt(at, name, sha);
      return attempt > 1;
    }
    if ((await this.gitHub.branch(at, name)) === sha) return true;
    if (attempt === MAX_ATTEMPTS) throw outcomeUnknown(`Branch "${name}"`);
    return this.make(at, name, sha, attempt + 1);
  }

  /** Whether the commit is on the branch now. What is sent again after a lost answer may find others built on it. */
  async move(at: RepositoryName, branch: string, commit: PlacedCommit, attempt = 1): Promise<boolean> {
    const moved = await written(this.gitHub, at, this.gitHub.moveBranch(at, branch, commit.sha));
    if (moved === 'moved') return true;
    if (moved === 'stale' && attempt === 1) return false;
    if (await this.holds(at, branch, commit)) return true;
    if (moved === 'stale') return false;
    if (attempt === MAX_ATTEMPTS) throw outcomeUnknown(`Commit ${commit.sha}`);
    return this.move(at, branch, commit, attempt + 1);
  }

  /** Whether the branch leads to the commit, by way of at most so many others. */
  private async holds(at: RepositoryName, branch: string, { sha, parent }: PlacedCommit): Promise<boolean> {
    let ahead = [await found(this.gitHub, at, this.gitHub.branch(at, branch))];
    for (let looked = 0; looked < MAX_LOOKED_THROUGH; looked++) {
      const [next, ...others] = ahead;
      if (next === undefined) return false;
      if (next === sha) return true;
      const { parents } = await found(this.gitHub, at, this.gitHub.commit(at, next));
      ahead = [...others, ...parents.filter((one) => one !== parent)];
    }
    throw outcomeUnknown(`Commit ${sha}`);
  }

  private async requireBranchAt(at: RepositoryName, name: string, sha: string): Promise<void> {
    const there = await this.gitHub.branch(at, name);
    if (there === sha) return;
    throw new MusterError('CONFLICT', `Branch "${name}" exists at another commit.`, {
      field: 'branch',
      reason: 'BRANCH_EXISTS',
      suggestion: 'Use it as it is, or choose another name.',
    });
  }
}
