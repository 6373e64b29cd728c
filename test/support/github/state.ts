/** State of the local GitHub: accounts, repositories, an App and its installations. */
import { generateKeyPairSync, type KeyObject, randomBytes, randomInt } from 'node:crypto';
import { ObjectStore, type Seed } from './objects.ts';

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  readonly createdAt: Date;
  state: 'open' | 'closed';
}

export interface Pull {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly head: string;
  readonly base: string;
  readonly draft: boolean;
  state: 'open' | 'closed';
}

export interface Job {
  readonly id: number;
  readonly name: string;
  readonly conclusion: 'success' | 'failure';
  /** Text of the job's log, or undefined if GitHub has deleted the log. */
  readonly log?: string;
}

export interface Run {
  readonly id: number;
  readonly workflow: { readonly id: number; readonly file: string };
  readonly title: string;
  readonly branch: string;
  readonly conclusion: 'success' | 'failure' | null;
  readonly jobs: readonly Job[];
}

export class Repo {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly objects = new ObjectStore();
  /** SHA of each branch's head commit, by the branch's name. */
  readonly branches = new Map<string, string>();
  readonly issues: Issue[] = [];
  readonly pulls: Pull[] = [];
  readonly runs: Run[] = [];
  readonly protectedBranches = new Set<string>();
  isPrivate = false;
  isArchived = false;
  /** Whether GitHub blocks access to the repository for legal reasons. */
  isBlocked = false;
  hasIssues = true;
  stars = 0;
  description: string | null = null;
  defaultBranch = 'main';

  constructor(id: number, owner: string, name: string) {
    this.id = id;
    this.owner = owner;
    this.name = name;
  }

  get fullName(): string {
    return `${this.owner}/${this.name}`;
  }

  /** Adds a commit with exactly these files to a branch, and creates the branch if it does not exist. */
  push(branch: string, files: Readonly<Record<string, Seed>>, message = 'Seeded'): string {
    const parent = this.branches.get(branch);
    const sha = this.objects.seed(files, message, parent === undefined ? [] : [parent]);
    this.branches.set(branch, sha);
    return sha;
  }

  /** Returns the SHA of the commit that a branch name or a SHA refers to. */
  resolve(ref: string): string | undefined {
    return this.branches.get(ref) ?? (this.objects.commits.has(ref) ? ref : undefined);
  }

  nextNumber(): number {
    return this.issues.length + this.pulls.length + 1;
  }
}

export interface Installation {
  readonly id: number;
  readonly account: string;
  /** Full names, such as `sartor-ai/claude-network`. */
  readonly repositories: Set<string>;
  /** Whether the installation may write to its repositories. */
  mayWrite: boolean;
  /** Whether the account granted access to all repositories, including future ones, or to selected ones. */
  selection: 'all' | 'selected';
}

export interface InstallationToken {
  readonly token: string;
  readonly installation: Installation;
  readonly expiresAt: Date;
}

const TOKEN_MS = 3_600_000;
let keys: { readonly privateKey: string; readonly publicKey: KeyObject } | undefined;

/** Returns the keys that all Apps of a process share, because generating keys is slow. */
function appKeys() {
  if (keys !== undefined) return keys;
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  keys = { privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(), publicKey };
  return keys;
}

export class GitHubState {
  readonly app: { readonly id: string; readonly privateKey: string; readonly publicKey: KeyObject };
  readonly personalToken = `ghp_${randomBytes(18).toString('hex')}`;
  /** Whether the person's token may write to repositories. If not, GitHub returns status 404 for writes. */
  personMayWrite = true;
  /** Maximum number of entries in the listing of a tree. Longer listings are truncated. */
  treeLimit = 100_000;
  /** Number of requests that count against each credential's rate limit. */
  readonly spent = new Map<string, number>();
  readonly accounts = new Set<string>();
  readonly repositories = new Map<string, Repo>();
  readonly installations: Installation[] = [];
  readonly tokens: InstallationToken[] = [];

  constructor() {
    this.app = { id: '4711', ...appKeys() };
  }

  repository(owner: string, name: string): Repo {
    this.accounts.add(owner);
    const repo = new Repo(randomInt(1, 2 ** 40), owner, name);
    this.repositories.set(repo.fullName.toLowerCase(), repo);
    return repo;
  }

  find(owner: string, name: string): Repo | undefined {
    return this.repositories.get(`${owner}/${name}`.toLowerCase());
  }

  install(account: string, ...repos: Repo[]): Installation {
    const repositories = new Set(repos.map((repo) => repo.fullName));
    const id = 70 + this.installations.length;
    const installation: Installation = { id, account, repositories, mayWrite: true, selection: 'selected' };
    this.installations.push(installation);
    return installation;
  }

  issueToken(installation: Installation): InstallationToken {
    const token = `ghs_${randomBytes(18).toString('hex')}`;
    const issued = { token, installation, expiresAt: new Date(Date.now() + TOKEN_MS) };
    this.tokens.push(issued);
    return issued;
  }

  /** Revokes all tokens before they expire. */
  revokeTokens(): void {
    this.tokens.length = 0;
  }
}
