/** Log of a coding task: its lines, and their storage in chunks. */

import { z } from 'zod/mini';
import type { ChangeOf, Versioned } from '../../../kernel/commit.ts';
import { documentCodec } from '../../../kernel/documentCodec.ts';

type LogChange = ChangeOf<CodingChanges>;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const LOG_TYPES = ['system', 'agent', 'tool', 'command', 'output', 'git', 'acceptance'] as const;

export type LogType = (typeof LOG_TYPES)[number];

/** Stored log line, in JSON. */
const storedEntry = z.object({
  at: z.pipe(
    z.iso.datetime(),
    z.transform((at) => new Date(at)),
  ),
  level: z.enum(LOG_LEVELS),
  type: z.enum(LOG_TYPES),
  /** Source of the entry: the name of a tool, program or agent. */
  prefix: z.optional(z.string()),
  message: z.string(),
  data: z.optional(z.unknown()),
});

export type LogEntry = Readonly<z.output<typeof storedEntry>>;

/** Entry with its line number, from 0, across all attempts. */
export interface LogLine extends LogEntry {
  readonly line: number;
}

/** Entry with a `sequence` that grows within an attempt, so that repeated entries are detected. */
export interface NumberedEntry extends LogEntry {
  readonly sequence: number;
}

// A task's log is stored in chunks of many lines: a document per line would cost a write per line. A log that
// exceeds the limit keeps its beginning and its end. Each chunk contains the number of its first line, so that a
// reader detects how many lines are missing.

/** Maximum number of lines, and of bytes, in a chunk. */
export const CHUNK_LINES = 500;

const CHUNK_BYTES = 64 * 1024;

/** Number of first and of latest chunks that are kept, 10 MiB if they are full. */
export const FIRST_CHUNKS = 16;

export const LATEST_CHUNKS = 144;

interface ChunkWrite {
  head: LogHead;
  readonly isNew: boolean;
  /** Number of the first of `entries`. */
  readonly from: number;
  readonly entries: LogEntry[];
  text: string;
  /** Number of the chunk that is deleted for this one. */
  readonly drops?: number;
}

interface AppendResult {
  readonly writes: readonly ChunkWrite[];
  readonly accepted: number;
  /** Number of the line after the appended ones. */
  readonly next: number;
}

const NOTHING: LogHead = { chunk: -1, first_line: 0, lines: 0, bytes: 0, claim_epoch: 0, sequence: -1 };

/** Appends those of a runner's entries that were not sent before in this attempt. */
export function appendNumbered(
  head: LogHead | undefined,
  epoch: number,
  entries: readonly NumberedEntry[],
): AppendResult {
  const sent = head?.claim_epoch === epoch ? head.sequence : -1;
  const fresh = entries.filter(({ sequence }) => sequence > sent);
  return append({ ...(head ?? NOTHING), claim_epoch: epoch, sequence: fresh.at(-1)?.sequence ?? sent }, fresh);
}

/** Appends an entry of a caller other than the runner. */
export function appendNote(head: LogHead | undefined, note: LogEntry): AppendResult {
  return append(head ?? NOTHING, [note]);
}

/** Fills the last chunk, then new ones. */
function append(before: LogHead, entries: readonly LogEntry[]): AppendResult {
  const writes: ChunkWrite[] = [];
  let head = before;
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    const size = new TextEncoder().encode(text).length;
    const from = head.first_line + head.lines;
    const isNew = head.chunk < 0 || head.lines >= CHUNK_LINES || head.bytes + size > CHUNK_BYTES;
    if (isNew) head = { ...head, chunk: head.chunk + 1, first_line: from, lines: 0, bytes: 0 };
    head = { ...head, lines: head.lines + 1, bytes: head.bytes + size };
    const last = isNew ? undefined : writes.at(-1);
    if (last) {
      last.head = head;
      last.entries.push(entry);
      last.text += `\n${text}`;
    } else {
      const drops = head.chunk - LATEST_CHUNKS;
      writes.push({ head, isNew, from, entries: [entry], text, ...(isNew && drops >= FIRST_CHUNKS && { drops }) });
    }
  }
  return { writes, accepted: entries.length, next: head.first_line + head.lines };
}

/** Returns the changes that append to a task's log. */
export function appendChanges(
  { id, workspace }: CodingChanges['appendLog']['task'],
  head: Versioned<LogHead> | undefined,
  { writes }: AppendResult,
): LogChange[] {
  return writes.map((write) => ({
    kind: 'appendLog',
    task: { id, workspace },
    write,
    version: write.isNew ? undefined : head?.version,
  }));
}

/** Returns the lines of a stored `ChunkWrite.text`. */
export function parseLines(text: string, from: number): LogLine[] {
  return text.split('\n').map((line, index) => ({ ...storedEntry.parse(JSON.parse(line)), line: from + index }));
}

export interface CodingChanges {
  /** Appends lines to a task's log. Stale if another call appended lines since the read. */
  readonly appendLog: {
    readonly task: { readonly id: string; readonly workspace: string };
    readonly write: ChunkWrite;
    readonly version?: string | undefined;
  };
  /** Stores the JSON of an attempt's result, in parts that fit into documents. */
  readonly storeResult: {
    readonly task: { readonly id: string; readonly workspace: string };
    readonly epoch: number;
    readonly parts: readonly string[];
  };
}

export const headDocument = z.object({
  /** Number of the chunk, from 0. */
  chunk: z.number(),
  /** Number of its first line, from 0 over the whole log. */
  first_line: z.number(),
  lines: z.number(),
  bytes: z.number(),
  /** Claim epoch of the attempt that last appended, and its last sequence; -1 before the first. */
  claim_epoch: z.number(),
  sequence: z.number(),
});

/** Name of a part: `n`, then the number of its first line. */
export const PART = /^n(\d+)$/;

/** Chunk of a log. Its lines are text, one part per append, so that appending sends only new lines. */
export const chunkDocument = z.extend(headDocument, { parts: z.record(z.string().check(z.regex(PART)), z.string()) });

export const { toDocument: headToDocument, fromDocument: headFromDocument } = documentCodec(headDocument);

/** Last chunk of a log, without its lines. */
export type LogHead = ReturnType<typeof headFromDocument>;
