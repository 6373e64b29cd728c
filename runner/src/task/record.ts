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
  writeFileSync,
} from 'node:fs';
import { z } from 'zod';
import type { Ending } from '../hub/hub.ts';
import { Journal } from '../outbox/journal.ts';
import { isAlive, ownIdentity } from '../process/identity.ts';
import { FAILURE_CLASSES } from './failure.ts';

const owner = z.object({
  pid: z.number(),
  startedAt: z.string(),
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
  /** Absent in records of releases that did not record how far the worktree was. */
  format: z.literal(2).exactOptional(),
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
 * `settled`: everything in it is reachable elsewhere. `kept`: it stays. `unknown`: a former release made it.
 */
export type Phase = 'opening' | 'working' | 'settled' | 'kept' | 'unknown';

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
export type AttemptFacts = Omit<Owner, 'pid' | 'startedAt' | 'format'>;

export class AttemptRecord {
  readonly facts: AttemptFacts;
  readonly journal: Journal;
  private readonly folder: string;

  private readonly format: 2 | undefined;

  private constructor(folder: string, facts: AttemptFacts, format: 2 | undefined) {
    this.folder = folder;
    this.facts = facts;
    this.format = format;
    this.journal = new Journal(`${folder}/log.jsonl`);
  }

  /** @param attempts where records are kept */
  static create(attempts: string, facts: AttemptFacts): AttemptRecord {
    const folder = `${attempts}/${facts.taskId}.${facts.epoch}`;
    mkdirSync(folder, { recursive: true });
    writeWhole(`${folder}/owner.json`, { ...facts, ...ownIdentity(), format: 2 });
    return new AttemptRecord(folder, facts, 2);
  }

  /** Takes over the records of runners that have ended. Of two runners that start at once, one gets each record. */
  static adopt(attempts: string): readonly AttemptRecord[] {
    if (!existsSync(attempts)) return [];
    return readdirSync(attempts).flatMap((name) => {
      const folder = `${attempts}/${name}`;
      const known = owner.safeParse(readJson(`${folder}/owner.json`));
      if (!known.success || isAlive(known.data) || !takesOver(folder, known.data)) return [];
      const { pid: _, startedAt: __, format, ...facts } = known.data;
      try {
        writeWhole(`${folder}/owner.json`, { ...known.data, ...ownIdentity() });
      } catch {
        return []; // a full disk: a runner that starts later finishes the attempt
      }
      return [new AttemptRecord(folder, facts, format)];
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
    if (existsSync(`${this.folder}/work.json`)) return 'working';
    return this.format === undefined ? 'unknown' : 'opening';
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
    writeWhole(`${this.folder}/owner.json`, { ...this.facts, branch, ...ownIdentity(), format: 2 });
  }

  /** Nothing of it is to be sent any more. */
  discard(): void {
    this.journal.close();
    try {
      rmSync(this.folder, { recursive: true, force: true });
    } catch {
      // The next runner sends the ending again, which changes nothing.
    }
  }

  /** Leaves it to the next runner. */
  leave(): void {
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
