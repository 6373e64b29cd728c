/** Logs and results of coding tasks in Firestore: functions that write them, and queries for logs. */
import { FieldValue, type Firestore, type Query, QueryDocumentSnapshot } from '@google-cloud/firestore';
import { z } from 'zod/mini';
import type { Versioned } from '../../../kernel/commit.ts';
import { deleteFound, MAX_PAGE_BYTES } from '../../../kernel/firestore/client.ts';
import { TASK_LOGS, taskLogChunkPath, taskPath, taskResultPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import { LATEST_COMMITS } from '../../../kernel/firestore/verifiedCommit.ts';
import {
  type CodingChanges,
  chunkDocument,
  headDocument,
  headFromDocument,
  headToDocument,
  type LogHead,
  type LogLine,
  type LogType,
  PART,
  parseLines,
} from '../rules/log.ts';
import type { LinesOfDay, LogExcerpt, OwnedLine, TaskLogQueries } from '../rules/ports.ts';

/** Fields that `headFromDocument` and a version need. Queries select them to avoid fetching log lines. */
const HEAD_FIELDS = [...Object.keys(headDocument.shape), LATEST_COMMITS];
const PART_DIGITS = 9;
const linesDocument = z.pick(chunkDocument, { parts: true });

/** Returns the lines of a chunk in their order. */
export function linesFromDocument(data: unknown): LogLine[] {
  return Object.entries(linesDocument.parse(data).parts)
    .map(([key, text]) => ({ from: Number(PART.exec(key)?.[1]), text }))
    .sort((left, right) => left.from - right.from)
    .flatMap(({ from, text }) => parseLines(text, from));
}

const chunkFromDocument = (data: unknown) => ({ head: headFromDocument(data), lines: linesFromDocument(data) });
const owner = z.object({ task_id: z.string() });

function ownedLines(data: unknown): readonly OwnedLine[] {
  const { task_id } = owner.parse(data);
  return linesFromDocument(data).map((line) => ({ ...line, taskId: task_id }));
}

/** Returns the key by which queries find a workspace's chunks with lines of one type and day. */
function dayKey(workspace: string, type: LogType, date: string): string {
  return `${workspace}/${type}/${date}`;
}

/** Returns the date in UTC, in a format such as `2026-11-22`. */
function dateOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

export const codingWriters: ChangeWriters<CodingChanges> = {
  appendLog({ task, write, version }, writes) {
    const { head, from, entries, text, drops } = write;
    const path = taskLogChunkPath(task.id, head.chunk);
    const latest_at = new Date(Math.max(...entries.map(({ at }) => at.getTime())));
    const fields = { ...headToDocument(head), latest_at };
    const days = [...new Set(entries.map(({ at, type }) => dayKey(task.workspace, type, dateOf(at))))];
    const part = `n${String(from).padStart(PART_DIGITS, '0')}`;
    if (version === undefined) {
      const whose = { task_id: task.id, workspace: task.workspace };
      writes.createPermanent(path, { ...whose, ...fields, days, parts: { [part]: text } });
    } else {
      const more = {
        ...fields,
        workspace: task.workspace,
        days: FieldValue.arrayUnion(...days),
        [`parts.${part}`]: text,
      };
      writes.replaceLatest(path, more, version);
    }
    if (drops !== undefined) writes.delete(taskLogChunkPath(task.id, drops));
  },
  storeResult({ task: { id, workspace }, epoch, parts }, writes) {
    for (const [part, json] of parts.entries()) writes.set(taskResultPath(id, epoch, part), { json, workspace });
  },
};

/** Number of chunks that one query returns when searching for old logs. */
const RETAINED_CHUNKS = 300;
const MAX_CHUNKS_OF_DAY = 20;

export class FirestoreTaskLogQueries extends FirestoreReader implements TaskLogQueries {
  async head(taskId: string): Promise<Versioned<LogHead> | undefined> {
    const { docs } = await latestChunk(this.database, taskId)
      .select(...HEAD_FIELDS)
      .get();
    const [last] = docs;
    return last && this.documents.findVersioned(last, headFromDocument);
  }

  async read(taskId: string, from: number, limit: number): Promise<LogExcerpt> {
    const chunks = chunksOf(this.database, taskId);
    const before = chunks.where('first_line', '<=', from).orderBy('first_line', 'desc').limit(1);
    const [head, started] = await Promise.all([this.head(taskId), before.get()]);
    const total = head ? head.value.first_line + head.value.lines : 0;
    const found = started.docs.flatMap((snapshot) => this.documents.readable(snapshot, linesFromDocument).flat());
    const lines = found.filter(({ line }) => line >= from);
    const following = chunks.where('first_line', '>', from).orderBy('first_line');
    const more = lines.length < limit ? this.inOrder(following) : [];
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
    const latest = chunksOf(this.database, taskId).orderBy('first_line', 'desc');
    for await (const { head, lines: more } of this.inOrder(latest)) {
      total = Math.max(total, head.first_line + head.lines);
      lines = [...more, ...lines];
      left -= head.bytes;
      if (lines.length >= limit || left <= 0) break;
    }
    return { lines: lines.slice(-limit), total };
  }

  async ofDay(workspace: string, type: LogType, date: string, limit: number): Promise<LinesOfDay> {
    const latest = this.database
      .collectionGroup(TASK_LOGS)
      .where('days', 'array-contains', dayKey(workspace, type, date))
      .orderBy('latest_at', 'desc')
      .limit(MAX_CHUNKS_OF_DAY);
    const lines: OwnedLine[] = [];
    let chunks = 0;
    for await (const snapshot of latest.stream()) {
      if (!(snapshot instanceof QueryDocumentSnapshot)) continue;
      chunks += 1;
      const owned = this.documents.readable(snapshot, ownedLines).flat();
      lines.push(...owned.filter((line) => line.type === type && dateOf(line.at) === date));
      if (lines.length > limit) break;
    }
    return { lines, more: lines.length > limit || chunks === MAX_CHUNKS_OF_DAY };
  }

  async *tasksWithOldLogs(before: Date): AsyncGenerator<string, void, undefined> {
    const logs = this.database.collectionGroup(TASK_LOGS);
    const old = logs.where('latest_at', '<=', before).orderBy('latest_at').limit(RETAINED_CHUNKS).select();
    let page = old;
    for (;;) {
      const { docs } = await page.get();
      for (const { ref } of docs) {
        const taskId = ref.parent.parent?.id;
        if (taskId !== undefined) yield taskId;
      }
      const last = docs.at(-1);
      if (last === undefined || docs.length < RETAINED_CHUNKS) return;
      page = old.startAfter(last);
    }
  }

  remove(taskId: string): Promise<number> {
    return deleteFound(this.database.collection(`${taskPath(taskId)}/${TASK_LOGS}`));
  }

  /** @param query sorted by `first_line`. Page sizes double, so that at most twice the needed chunks are read. */
  private async *inOrder(query: Query) {
    let rest = query;
    for (let asked = 1; ; asked *= 2) {
      const { docs } = await rest.limit(asked).get();
      for (const snapshot of docs) yield* this.documents.readable(snapshot, chunkFromDocument);
      const last = docs.at(-1);
      if (last === undefined || docs.length < asked) return;
      rest = query.startAfter(last);
    }
  }
}

function chunksOf(database: Firestore, taskId: string): Query {
  return database.collection(`${taskPath(taskId)}/${TASK_LOGS}`);
}

/** Returns the query for a log's last chunk, which changes with each append. */
export function latestChunk(database: Firestore, taskId: string): Query {
  return chunksOf(database, taskId).orderBy('first_line', 'desc').limit(1);
}
