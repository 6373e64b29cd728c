import { type Firestore, type Query, QueryDocumentSnapshot } from '@google-cloud/firestore';
import { z } from 'zod';
import type { LogLine, LogType } from '../../domain/coding/log.ts';
import type { LogHead } from '../../domain/coding/logBook.ts';
import type { DayOfLog, LogExcerpt, TaskLogReader } from '../../domain/coding/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import { TASK_LOGS, taskPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { dateOf, dayKey, HEAD_FIELDS, headFromDocument, linesFromDocument } from './taskLogDocument.ts';

/** A page ends before it is larger than this, in bytes of JSON. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** How many chunks a look at a day reads. */
const MAX_CHUNKS_OF_DAY = 20;

const owner = z.object({ task_id: z.string() });

interface Chunk {
  readonly head: LogHead;
  readonly lines: readonly LogLine[];
}

export class FirestoreTaskLogReader implements TaskLogReader {
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
