/** A chunk of a task's log: its lines as text, one part an append, so that appending sends only what is new. */

import { FieldValue, type Firestore, type Query, QueryDocumentSnapshot } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { type DocumentCodec, documentCodec } from '../../../kernel/firestore/codec.ts';
import { TASK_LOGS, taskPath } from '../../../kernel/firestore/paths.ts';
import { LATEST_COMMITS } from '../../../kernel/firestore/provenCommit.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import {
  type ChunkWrite,
  type DayOfLog,
  type LogExcerpt,
  type LogHead,
  type LogLine,
  type LogType,
  parseLines,
} from '../rules/log.ts';

const headDocument = z.object({
  chunk: z.number(),
  first_line: z.number(),
  lines: z.number(),
  bytes: z.number(),
  claim_epoch: z.number(),
  sequence: z.number(),
});

const heads: DocumentCodec<LogHead> = documentCodec(headDocument, { claim_epoch: 'epoch' });

export const headFromDocument = heads.fromDocument;

/** What `headFromDocument` and a version read, for a query that fetches no lines. */
const HEAD_FIELDS = [...Object.keys(headDocument.shape), LATEST_COMMITS];

const PART = /^n(\d+)$/;
const PART_DIGITS = 9;

const linesDocument = z.object({ parts: z.record(z.string().regex(PART), z.string()) });

interface OwningTask {
  readonly id: string;
  readonly workspace: string;
}

/** What `logs` are found by for a day, over all tasks of a workspace. */
function dayKey(workspace: string, type: LogType, date: string): string {
  return `${workspace}/${type}/${date}`;
}

export function chunkToDocument(task: OwningTask, write: ChunkWrite): Record<string, unknown> {
  return {
    task_id: task.id,
    ...heads.toDocument(write.head),
    latest_at: latestOf(write),
    days: daysOf(task, write),
    parts: { [partKey(write.from)]: write.text },
  };
}

/** What more lines change of a chunk that is there. */
export function linesToFields(task: OwningTask, write: ChunkWrite): Record<string, unknown> {
  return {
    ...heads.toDocument(write.head),
    latest_at: latestOf(write),
    days: FieldValue.arrayUnion(...daysOf(task, write)),
    [`parts.${partKey(write.from)}`]: write.text,
  };
}

/** The lines of a chunk in their order. */
export function linesFromDocument(data: unknown): LogLine[] {
  const { parts } = linesDocument.parse(data);
  return Object.entries(parts)
    .map(([key, text]) => ({ from: Number(PART.exec(key)?.[1]), text }))
    .sort((left, right) => left.from - right.from)
    .flatMap(({ from, text }) => parseLines(text, from));
}

function partKey(from: number): string {
  return `n${String(from).padStart(PART_DIGITS, '0')}`;
}

function latestOf({ entries }: ChunkWrite): Date {
  return new Date(Math.max(...entries.map(({ at }) => at.getTime())));
}

function daysOf({ workspace }: OwningTask, { entries }: ChunkWrite): string[] {
  return [...new Set(entries.map(({ at, type }) => dayKey(workspace, type, dateOf(at))))];
}

/** `2026-11-22`, in UTC. */
function dateOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** A page ends before it is larger than this, in bytes of JSON. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** How many chunks a look at a day reads. */
const MAX_CHUNKS_OF_DAY = 20;

const owner = z.object({ task_id: z.string() });

interface Chunk {
  readonly head: LogHead;
  readonly lines: readonly LogLine[];
}

export class FirestoreTaskLogReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async head(taskId: string): Promise<Versioned<LogHead> | undefined> {
    const { docs } = await latestChunk(this.database, taskId)
      .select(...HEAD_FIELDS)
      .get();
    const [last] = docs;
    return last && this.documents.findVersioned(last, headFromDocument);
  }

  /** At most `limit` lines from line `from` on; fewer where they are long. */
  async read(taskId: string, from: number, limit: number): Promise<LogExcerpt> {
    const chunks = this.chunks(taskId);
    const before = chunks.where('first_line', '<=', from).orderBy('first_line', 'desc').limit(1);
    const [head, begun] = await Promise.all([this.head(taskId), before.get()]);
    const total = head ? head.value.firstLine + head.value.lines : 0;
    const found = begun.docs.flatMap((snapshot) =>
      this.documents.readable(snapshot, linesFromDocument).flat(),
    );
    const lines = found.filter(({ line }) => line >= from);
    const following = chunks.where('first_line', '>', from).orderBy('first_line');
    const more = lines.length < limit ? this.chunksOf(following) : [];
    let bytes = 0;
    for await (const chunk of more) {
      bytes += chunk.head.bytes;
      if (lines.length > 0 && bytes > MAX_PAGE_BYTES) break;
      lines.push(...chunk.lines);
      if (lines.length >= limit) break;
    }
    return { lines: lines.slice(0, limit), total };
  }

  /** The last lines, at most `limit` of them and about `bytes` bytes. */
  async tail(taskId: string, limit: number, bytes: number): Promise<LogExcerpt> {
    let lines: readonly LogLine[] = [];
    let total = 0;
    let left = bytes;
    const latest = this.chunks(taskId).orderBy('first_line', 'desc');
    for await (const { head, lines: more } of this.chunksOf(latest)) {
      total = Math.max(total, head.firstLine + head.lines);
      lines = [...more, ...lines];
      left -= head.bytes;
      if (lines.length >= limit || left <= 0) break;
    }
    return { lines: lines.slice(-limit), total };
  }

  /**
   * Lines of one type from one day, of all tasks of a workspace, in the order of time: the latest, at most
   * `limit`.
   * @param date `2026-11-22`, in UTC
   */
  async ofDay(
    workspace: string,
    type: LogType,
    date: string,
    limit: number,
  ): Promise<{ readonly days: readonly DayOfLog[]; readonly more: boolean }> {
    const key = dayKey(workspace, type, date);
    const latest = this.database
      .collectionGroup(TASK_LOGS)
      .where('days', 'array-contains', key)
      .orderBy('latest_at', 'desc')
      .limit(MAX_CHUNKS_OF_DAY);
    const days: DayOfLog[] = [];
    let [chunks, count] = [0, 0];
    for await (const snapshot of latest.stream()) {
      if (!(snapshot instanceof QueryDocumentSnapshot)) continue;
      chunks += 1;
      const [chunk] = this.documents.readable(snapshot, ownedLines);
      if (chunk === undefined) continue;
      const lines = chunk.lines.filter((line) => line.type === type && dateOf(line.at) === date);
      days.push({ taskId: chunk.taskId, lines });
      count += lines.length;
      if (count > limit) break;
    }
    return { days, more: count > limit || chunks === MAX_CHUNKS_OF_DAY };
  }

  /** @param query ordered by `first_line`. Its pages double: whoever stops has read at most twice what was needed. */
  private async *chunksOf(query: Query): AsyncGenerator<Chunk> {
    let rest = query;
    for (let asked = 1; ; asked *= 2) {
      const { docs } = await rest.limit(asked).get();
      for (const snapshot of docs) yield* this.documents.readable(snapshot, chunkFromDocument);
      const last = docs.at(-1);
      if (last === undefined || docs.length < asked) return;
      rest = query.startAfter(last);
    }
  }

  private chunks(taskId: string): Query {
    return this.database.collection(`${taskPath(taskId)}/${TASK_LOGS}`);
  }
}

export type TaskLogReader = Pick<FirestoreTaskLogReader, keyof FirestoreTaskLogReader>;

/** The chunk that a log goes on in: what changes when the log does. */
export function latestChunk(database: Firestore, taskId: string): Query {
  const chunks = database.collection(`${taskPath(taskId)}/${TASK_LOGS}`);
  return chunks.orderBy('first_line', 'desc').limit(1);
}

function chunkFromDocument(data: unknown): Chunk {
  return { head: headFromDocument(data), lines: linesFromDocument(data) };
}

function ownedLines(data: unknown): { readonly taskId: string; readonly lines: readonly LogLine[] } {
  return { taskId: owner.parse(data).task_id, lines: linesFromDocument(data) };
}
