/**
 * An attempt on disk: who makes it and where, its log, and its ending. Whatever a runner that died has left can be
 * found and finished from it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
});

const ending = z.object({
  status: z.enum(['completed', 'failed']),
  result: z.json(),
  failure: z
    .object({
      class: z.enum(FAILURE_CLASSES),
      message: z.string(),
      retryable: z.boolean().exactOptional(),
    })
    .exactOptional(),
});

type Owner = z.output<typeof owner>;
export type AttemptFacts = Omit<Owner, 'pid' | 'startedAt'>;

export class AttemptRecord {
  readonly facts: AttemptFacts;
  readonly journal: Journal;
  private readonly folder: string;

  private constructor(folder: string, facts: AttemptFacts) {
    this.folder = folder;
    this.facts = facts;
    this.journal = new Journal(`${folder}/log.jsonl`);
  }

  /** @param attempts where records are kept */
  static create(attempts: string, facts: AttemptFacts): AttemptRecord {
    const folder = `${attempts}/${facts.taskId}.${facts.epoch}`;
    mkdirSync(folder, { recursive: true });
    writeWhole(`${folder}/owner.json`, { ...facts, ...ownIdentity() });
    return new AttemptRecord(folder, facts);
  }

  /** Takes over what runners have left that are no more. */
  static adopt(attempts: string): readonly AttemptRecord[] {
    if (!existsSync(attempts)) return [];
    return readdirSync(attempts).flatMap((name) => {
      const folder = `${attempts}/${name}`;
      const known = owner.safeParse(readJson(`${folder}/owner.json`));
      if (!known.success || isAlive(known.data)) return [];
      const { pid: _, startedAt: __, ...facts } = known.data;
      return [AttemptRecord.create(attempts, facts)];
    });
  }

  get ending(): Ending | undefined {
    const parsed = ending.safeParse(readJson(`${this.folder}/ending.json`));
    return parsed.success ? parsed.data : undefined;
  }

  keep(one: Ending): void {
    writeWhole(`${this.folder}/ending.json`, one);
  }

  /** Nothing of it is to be sent any more. */
  discard(): void {
    this.journal.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Leaves it to the next runner. */
  leave(): void {
    this.journal.close();
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // not there, or not written to its end
  }
}

function writeWhole(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
