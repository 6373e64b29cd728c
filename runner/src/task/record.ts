/**
 * An attempt on disk: its runner, its worktree, its log and its ending. The next runner finishes from it what a runner
 * that was killed has left.
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
import { lookAt, ownIdentity, ownPlace, standingOf } from '../process/identity.ts';
import { FAILURE_CLASSES } from './failure.ts';

const owner = z.object({
  pid: z.number(),
  startedAt: z.string(),
  /** Where the process id means this process, as far as the system says so. */
  bootId: z.string().exactOptional(),
  pidNamespace: z.string().exactOptional(),
  host: z.string().exactOptional(),
  /** How long others take the runner for running without a sign of life, if they cannot see its process. */
  leaseSeconds: z.number(),
  /** Of the attempt's processes. */
  mark: z.string(),
  /** Where, and as which agent: nobody else may end the attempt. */
  hub: z.string(),
  agentId: z.string(),
  taskId: z.string(),
  epoch: z.number(),
  description: z.string(),
  branch: z.string(),
  worktree: z.string(),
});

/** The worktree as it was when the agent started. */
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
 * How far the worktree is. `opening`: no agent has worked in it. `working`: it can contain what is nowhere else.
 * `settled`: everything in it is reachable elsewhere. `kept`: it stays.
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

/** A runner of 0.3.0 takes a record without this for one of an earlier release. */
const FORMAT = { format: 2 };

/** How often a runner shows those that cannot see its process that it runs, in milliseconds. Below every lease. */
const SIGN_OF_LIFE_MS = 4000;

export class AttemptRecord {
  readonly facts: AttemptFacts;
  readonly journal: Journal;
  private readonly folder: string;
  private readonly signs: NodeJS.Timeout;

  private constructor(folder: string, facts: AttemptFacts) {
    this.folder = folder;
    this.facts = facts;
    this.journal = new Journal(`${folder}/log.jsonl`);
    this.signs = setInterval(() => touch(`${folder}/owner.json`), SIGN_OF_LIFE_MS);
    this.signs.unref();
  }

  /** @param attempts where records are kept */
  static create(attempts: string, facts: AttemptFacts): AttemptRecord {
    const folder = `${attempts}/${facts.taskId}.${facts.epoch}`;
    mkdirSync(folder, { recursive: true });
    writeWhole(`${folder}/owner.json`, { ...facts, ...ownIdentity(), ...FORMAT });
    return new AttemptRecord(folder, facts);
  }

  /**
   * Takes over the records of runners that have ended. Of two runners that start at once, one gets each record. One of
   * a runner that cannot be seen from here, on another machine or in another container, is left alone until it has
   * shown no sign of life for as long as its lease.
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
        return []; // a full disk: a runner that starts later finishes the attempt
      }
      return [new AttemptRecord(folder, facts)];
    });
  }

  /** Returns whether some records are left alone because their runners cannot be seen from here. */
  static areLeftAlone(attempts: string): boolean {
    if (!existsSync(attempts)) return false;
    return readdirSync(attempts).some((name) => {
      const known = owner.safeParse(readJson(`${attempts}/${name}/owner.json`));
      return known.success && standingOf(known.data, ownPlace(), lookAt) === 'unknown';
    });
  }

  /** A copy of the worktree's index as it was when the agent started. */
  get baseline(): string {
    return `${this.folder}/index.before`;
  }

  /** The index that the runner works with. */
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

  /** From now on, an agent works. */
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

  /** Records that the attempt works on another branch than its task names. For a runner that recovers it. */
  useBranch(branch: string): void {
    if (branch === this.facts.branch) return;
    writeWhole(`${this.folder}/owner.json`, { ...this.facts, branch, ...ownIdentity(), ...FORMAT });
  }

  /** Nothing of it is to be sent any more. */
  discard(): void {
    clearInterval(this.signs);
    this.journal.close();
    try {
      rmSync(this.folder, { recursive: true, force: true });
    } catch {
      // The next runner sends the ending again, which changes nothing.
    }
  }

  /** Leaves it to the next runner. */
  leave(): void {
    clearInterval(this.signs);
    this.journal.close();
  }
}

/** How long a runner that was killed while it took over keeps others from it, in milliseconds. */
const TAKING_OVER_MS = 60_000;

/** Whether this process is the first to take over from an owner. */
function takesOver(folder: string, { pid, startedAt }: Owner): boolean {
  const claim = `${folder}/after-${pid}-${startedAt.replace(/\W/g, '')}`;
  try {
    closeSync(openSync(claim, 'wx'));
    return true;
  } catch {
    const age = Date.now() - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    return age > TAKING_OVER_MS;
  }
}

/** When each record that is left alone was last touched, as of the last look. */
const seen = new Map<string, number>();

/**
 * Whether the runner of a record has ended. One that cannot be seen has shown no sign of life for as long as its lease,
 * nor since the last look: the clock alone does not decide, because it can jump.
 */
function hasEnded(folder: string, known: Owner): boolean {
  const standing = standingOf(known, ownPlace(), lookAt);
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
    // the record is gone, or the disk cannot be written: others decide by what they see
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // not there, or not written to its end
  }
}

/** Survives a loss of power as well: a record that seems to say less would cost work. */
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
