/** What a coding task reports while it runs, line by line. */

import { z } from 'zod';
import { type JsonValue, utf8Length } from '../../../kernel/json.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_TYPES = ['system', 'agent', 'tool', 'command', 'output', 'git', 'acceptance'] as const;

export type LogType = (typeof LOG_TYPES)[number];

export interface LogEntry {
  readonly at: Date;
  readonly level: LogLevel;
  readonly type: LogType;
  /** Who or what says it: the name of a tool, a program, an agent. */
  readonly prefix?: string;
  readonly message: string;
  readonly data?: JsonValue;
}

/** An entry in its place: lines are counted from 0, over all attempts. */
export interface LogLine extends LogEntry {
  readonly line: number;
}

/** What a runner sends: `sequence` grows within its attempt, so that what is sent again is known. */
export interface NumberedEntry extends LogEntry {
  readonly sequence: number;
}

// A task's log, kept in chunks of many lines: a document a line would cost a write a line. Of a log that
// has grown too long the beginning and the end stay, and every chunk says which line it begins with, so
// that a reader sees how many are missing. Pure; `kernel/commit.ts` says how it is written.

/** A chunk is full when it has so many lines, or bytes. */
export const CHUNK_LINES = 500;
const CHUNK_BYTES = 64 * 1024;

/** Of the chunks these stay: 10 MiB where they are full. */
export const FIRST_CHUNKS = 16;
export const LATEST_CHUNKS = 144;

/** The last chunk of a log, which knows where the log goes on. */
export interface LogHead {
  /** From 0. */
  readonly chunk: number;
  /** The number of its first line, from 0 over the whole log. */
  readonly firstLine: number;
  readonly lines: number;
  readonly bytes: number;
  /** The attempt that last appended, and the last sequence that it sent; -1 before the first. */
  readonly epoch: number;
  readonly sequence: number;
}

/** Lines that go to the end of one chunk. */
export interface ChunkWrite {
  /** The chunk as it is afterwards. */
  readonly head: LogHead;
  readonly isNew: boolean;
  /** The number of the first of these lines. */
  readonly from: number;
  readonly entries: readonly LogEntry[];
  /** The lines, each as JSON. */
  readonly text: string;
  /** The chunk that makes room for this one. */
  readonly drops?: number;
}

export interface Appending {
  readonly writes: readonly ChunkWrite[];
  readonly accepted: number;
  /** The number of the line after these. */
  readonly next: number;
}

const NOTHING: LogHead = { chunk: -1, firstLine: 0, lines: 0, bytes: 0, epoch: 0, sequence: -1 };

/** Appends what a runner sends: of its attempt's entries those that it had not sent before. */
export function appendNumbered(
  head: LogHead | undefined,
  epoch: number,
  entries: readonly NumberedEntry[],
): Appending {
  const sent = head?.epoch === epoch ? head.sequence : -1;
  const fresh = entries.filter(({ sequence }) => sequence > sent);
  const sequence = fresh.at(-1)?.sequence ?? sent;
  return append(head ?? NOTHING, fresh, { epoch, sequence });
}

/** Appends what somebody else than the runner says. */
export function appendNote(head: LogHead | undefined, note: LogEntry): Appending {
  const { epoch, sequence } = head ?? NOTHING;
  return append(head ?? NOTHING, [note], { epoch, sequence });
}

function append(
  before: LogHead,
  entries: readonly LogEntry[],
  source: Pick<LogHead, 'epoch' | 'sequence'>,
): Appending {
  const writes: ChunkWrite[] = [];
  let head = before;
  for (const { isNew, lines } of intoChunks(before, entries)) {
    const from = head.firstLine + head.lines;
    const start = isNew ? { chunk: head.chunk + 1, firstLine: from, lines: 0, bytes: 0 } : head;
    const bytes = lines.reduce((sum, line) => sum + line.bytes, 0);
    head = { ...start, ...source, lines: start.lines + lines.length, bytes: start.bytes + bytes };
    const drops = head.chunk - LATEST_CHUNKS;
    writes.push({
      head,
      isNew,
      from,
      entries: lines.map(({ entry }) => entry),
      text: lines.map(({ text }) => text).join('\n'),
      ...(isNew && drops >= FIRST_CHUNKS && { drops }),
    });
  }
  return { writes, accepted: entries.length, next: head.firstLine + head.lines };
}

interface MeasuredLine {
  readonly entry: LogEntry;
  readonly text: string;
  readonly bytes: number;
}

/** Shares entries out to the last chunk, as far as it has room, and to new ones. */
function intoChunks(
  { chunk, lines: had, bytes: filled }: LogHead,
  entries: readonly LogEntry[],
): { isNew: boolean; lines: MeasuredLine[] }[] {
  const chunks: { isNew: boolean; lines: MeasuredLine[] }[] = [];
  let [lines, bytes] = chunk < 0 ? [CHUNK_LINES, CHUNK_BYTES] : [had, filled];
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    const size = utf8Length(text);
    const last = chunks.at(-1);
    if (lines >= CHUNK_LINES || bytes + size > CHUNK_BYTES) {
      chunks.push({ isNew: true, lines: [{ entry, text, bytes: size }] });
      [lines, bytes] = [1, size];
    } else {
      if (last === undefined) chunks.push({ isNew: false, lines: [{ entry, text, bytes: size }] });
      else last.lines.push({ entry, text, bytes: size });
      lines += 1;
      bytes += size;
    }
  }
  return chunks;
}

const storedEntry = z.object({
  at: z.iso.datetime().transform((at) => new Date(at)),
  level: z.enum(LOG_LEVELS),
  type: z.enum(LOG_TYPES),
  prefix: z.string().optional(),
  message: z.string(),
  data: z.json().optional(),
});

/** The lines that `ChunkWrite.text` holds. */
export function parseLines(text: string, from: number): LogLine[] {
  return text.split('\n').map((line, index) => {
    const { prefix, data, ...entry } = storedEntry.parse(JSON.parse(line));
    return {
      ...entry,
      ...(prefix !== undefined && { prefix }),
      ...(data !== undefined && { data }),
      line: from + index,
    };
  });
}

/** What commits may change of what an attempt at a coding task brings. */
export interface CodingChanges {
  /** Puts lines at the end of a task's log. Stale where somebody else has in between. */
  readonly appendLog: {
    readonly task: { readonly id: string; readonly workspace: string };
    readonly write: ChunkWrite;
    /** Of the chunk, where it is there already. */
    readonly version?: string;
  };
  /** The JSON of what the attempt brought, in parts that fit into documents. */
  readonly storeResult: {
    readonly taskId: string;
    readonly epoch: number;
    readonly parts: readonly string[];
  };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends CodingChanges {}
}

/** Which coding tasks of a workspace: all, those of a branch, or those of a project. */
export interface CodingFilter {
  readonly branch?: string;
  readonly project?: string;
}

/** Lines of a log in their order. `total` counts all that were ever written. */
export interface LogExcerpt {
  readonly lines: readonly LogLine[];
  readonly total: number;
}

/** Lines of one task's log that belong to a day. */
export interface DayOfLog {
  readonly taskId: string;
  readonly lines: readonly LogLine[];
}
