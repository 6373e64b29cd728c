/**
 * Stores an attempt on disk: its runner, worktree, log and ending. If the runner is killed, the next runner uses the
 * record to finish the attempt.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { z } from 'zod';
import type { Ending } from '../hub/hub.ts';
import { Journal } from '../outbox/journal.ts';
import { inspectProcess, ownIdentity, ownPlace, stateOf } from '../process/identity.ts';
import { FAILURE_CLASSES } from './failure.ts';

const owner = z.object({
  pid: z.number(),
  startedAt: z.string(),
  /** Scope in which the process id is unique, if the system reports that scope. */
  bootId: z.string().exactOptional(),
  pidNamespace: z.string().exactOptional(),
  host: z.string().exactOptional(),
  /** If the process is not visible, it counts as running for this many seconds after its last heartbeat. */
  leaseSeconds: z.number(),
  mark: z.string(),
  /** URL of the hub and id of the agent. Only this agent can end the attempt. */
  hub: z.string(),
  agentId: z.string(),
  taskId: z.string(),
  epoch: z.number(),
  description: z.string(),
  branch: z.string(),
  worktree: z.string(),
});

/** State of the worktree when the agent started. */
const work = z.object({
  gitDir: z.string(),
  before: z.object({
    startedAt: z.string(),
    outerRules: z.array(z.string()),
    settings: z.record(z.string(), z.string()),
  }),
});
type Work = z.output<typeof work>;

/**
 * Phase of an attempt's worktree. `opening`: no agent has worked in it. `working`: it can contain unique data.
 * `settled`: everything in it is reachable elsewhere. `kept`: the worktree is not removed.
 */
export type Phase = 'opening' | 'working' | 'settled' | 'kept';

const ending = z.object({
  status: z.enum(['completed', 'failed']),
  result: z.json(),
  failure: z
    .object({
      class: z.enum(FAILURE_CLASSES),
      message: z.string(),
      retryable: z.boolean().exactOptional(),
      returnAfterSeconds: z.number().exactOptional(),
    })
    .exactOptional(),
});

type Owner = z.output<typeof owner>;
export type AttemptFacts = Omit<Owner, 'pid' | 'startedAt' | 'bootId' | 'pidNamespace' | 'host'>;

/** Without the format, a runner of version 0.3.0 mistakes the record for one of an earlier version. */
const FORMAT = { format: 2 };

/** Interval of the record's heartbeats on disk, in milliseconds. It is shorter than every lease. */
const HEARTBEAT_INTERVAL_MS = 4000;

export class AttemptRecord {
  readonly facts: AttemptFacts;
  readonly journal: Journal;
  private readonly folder: string;
  private readonly signs: NodeJS.Timeout;

  private constructor(folder: string, facts: AttemptFacts) {
    this.folder = folder;
    this.facts = facts;
    this.journal = new Journal(`${folder}/log.jsonl`);
    this.signs = setInterval(() => touch(`${folder}/owner.json`), HEARTBEAT_INTERVAL_MS);
    this.signs.unref();
  }

  /** @param attempts folder of all attempts' records */
  static create(attempts: string, facts: AttemptFacts): AttemptRecord {
    const folder = `${attempts}/${facts.taskId}.${facts.epoch}`;
    mkdirSync(folder, { recursive: true });
    writeWhole(`${folder}/owner.json`, { ...facts, ...ownIdentity(), ...FORMAT });
    return new AttemptRecord(folder, facts);
  }

  /**
   * Adopts the records of runners that have ended. If two runners start at the same time, one of them gets each
   * record. A runner on another machine or in another container is not visible. Its record is skipped until its
   * heartbeats have stopped for the length of its lease.
   */
  static adopt(attempts: string): readonly AttemptRecord[] {
    if (!existsSync(attempts)) return [];
    return readdirSync(attempts).flatMap((name) => {
      const folder = `${attempts}/${name}`;
      const known = owner.safeParse(readJson(`${folder}/owner.json`));
      if (!known.success || !hasEnded(folder, known.data) || !takesOver(folder, known.data)) return [];
      const { pid: _, startedAt: __, bootId: ___, pidNamespace: ____, host: _____, ...facts } = known.data;
      try {
        writeWhole(`${folder}/owner.json`, { ...known.data, ...ownIdentity() });
      } catch {
        return []; // The disk is full. A runner that starts later finishes the attempt.
      }
      return [new AttemptRecord(folder, facts)];
    });
  }

  /** Returns whether some records are skipped because their runners are not visible to this process. */
  static areLeftAlone(attempts: string): boolean {
    if (!existsSync(attempts)) return false;
    return readdirSync(attempts).some((name) => {
      const known = owner.safeParse(readJson(`${attempts}/${name}/owner.json`));
      return known.success && stateOf(known.data, ownPlace(), inspectProcess) === 'unknown';
    });
  }

  /** Copy of the worktree's index from when the agent started. */
  get baseline(): string {
    return `${this.folder}/index.before`;
  }

  /** Path of the index that belongs to the runner. */
  get index(): string {
    return `${this.folder}/index`;
  }

  get work(): Work | undefined {
    const parsed = work.safeParse(readJson(`${this.folder}/work.json`));
    return parsed.success ? parsed.data : undefined;
  }

  get phase(): Phase {
    if (existsSync(`${this.folder}/kept`)) return 'kept';
    if (existsSync(`${this.folder}/settled`)) return 'settled';
    return existsSync(`${this.folder}/work.json`) ? 'working' : 'opening';
  }

  /** Stores the state of the worktree, and starts the `working` phase. */
  startWork(one: Work): void {
    writeWhole(`${this.folder}/work.json`, one);
  }

  mark(phase: 'settled' | 'kept'): void {
    writeWhole(`${this.folder}/${phase}`, phase);
  }

  get ending(): Ending | undefined {
    const parsed = ending.safeParse(readJson(`${this.folder}/ending.json`));
    return parsed.success ? parsed.data : undefined;
  }

  keep(one: Ending): void {
    writeWhole(`${this.folder}/ending.json`, one);
  }

  /** Records that the attempt uses another branch than the task's, so that a recovery finds the branch. */
  useBranch(branch: string): void {
    if (branch === this.facts.branch) return;
    writeWhole(`${this.folder}/owner.json`, { ...this.facts, branch, ...ownIdentity(), ...FORMAT });
  }

  /** Deletes the record. Call it when nothing remains to be sent. */
  discard(): void {
    clearInterval(this.signs);
    this.journal.close();
    try {
      rmSync(this.folder, { recursive: true, force: true });
    } catch {
      // If the record remains, the next runner sends the ending again, which changes nothing.
    }
  }

  /** Leaves the record to the next runner. */
  leave(): void {
    clearInterval(this.signs);
    this.journal.close();
  }
}

/** Milliseconds after which another runner may repeat a takeover whose runner was killed. */
const TAKEOVER_TIMEOUT_MS = 60_000;

/** Returns whether this process is the first that takes over the record of an ended runner. */
function takesOver(folder: string, { pid, startedAt }: Owner): boolean {
  const claim = `${folder}/after-${pid}-${startedAt.replace(/\W/g, '')}`;
  try {
    closeSync(openSync(claim, 'wx'));
    return true;
  } catch {
    const age = Date.now() - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    return age > TAKEOVER_TIMEOUT_MS;
  }
}

/** Time of the last heartbeat of each skipped record, as of the previous check. */
const seen = new Map<string, number>();

/**
 * Returns whether a record's runner has ended. If the runner is not visible, there must have been no heartbeat for
 * the length of its lease, and none since the previous check. The second condition is needed because clocks can jump.
 */
function hasEnded(folder: string, known: Owner): boolean {
  const standing = stateOf(known, ownPlace(), inspectProcess);
  if (standing !== 'unknown') return standing === 'ended';
  const lease = known.leaseSeconds * 1000;
  const shown = shownAt(`${folder}/owner.json`);
  const isSame = seen.get(folder) === shown;
  seen.set(folder, shown);
  return isSame && Date.now() - shown > lease;
}

function shownAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The record was deleted, or the disk is not writable. Other runners then see only the previous heartbeat.
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // The file is missing or incomplete.
  }
}

/** Writes a file atomically and durably, because an incomplete record after a power failure would lose work. */
function writeWhole(path: string, value: unknown): void {
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeFileSync(file, JSON.stringify(value));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
