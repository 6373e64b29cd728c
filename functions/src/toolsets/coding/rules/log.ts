/** The log of a coding task: its lines, and how they are shared out to chunks. */

import { z } from 'zod/mini';
import type { ChangeOf, Versioned } from '../../../kernel/commit.ts';
import { documentCodec } from '../../../kernel/documentCodec.ts';

type LogChange = ChangeOf<CodingChanges>;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const LOG_TYPES = ['system', 'agent', 'tool', 'command', 'output', 'git', 'acceptance'] as const;

export type LogType = (typeof LOG_TYPES)[number];

/** A line as it is stored, in JSON. */
const storedEntry = z.object({
  at: z.pipe(
    z.iso.datetime(),
    z.transform((at) => new Date(at)),
  ),
  level: z.enum(LOG_LEVELS),
  type: z.enum(LOG_TYPES),
  /** Who or what says it: the name of a tool, a program, an agent. */
  prefix: z.optional(z.string()),
  message: z.string(),
  data: z.optional(z.unknown()),
});

export type LogEntry = Readonly<z.output<typeof storedEntry>>;

/** An entry in its place: lines are counted from 0, over all attempts. */
export interface LogLine extends LogEntry {
  readonly line: number;
}

/** `sequence` grows within an attempt, so that an entry that is sent again is known. */
export interface NumberedEntry extends LogEntry {
  readonly sequence: number;
}

// A task's log is kept in chunks of many lines: a document a line would cost a write a line. Of a log that
// has grown too long the beginning and the end stay, and every chunk says which line it begins with, so
// that a reader sees how many are missing.

/** A chunk is full when it has so many lines, or bytes. */
export const CHUNK_LINES = 500;

const CHUNK_BYTES = 64 * 1024;

/** Of the chunks these stay: 10 MiB where they are full. */
export const FIRST_CHUNKS = 16;

export const LATEST_CHUNKS = 144;

interface ChunkWrite {
  head: LogHead;
  readonly isNew: boolean;
  /** The number of the first of these lines. */
  readonly from: number;
  readonly entries: LogEntry[];
  text: string;
  /** The chunk that makes room for this one. */
  readonly drops?: number;
}

interface Appending {
  readonly writes: readonly ChunkWrite[];
  readonly accepted: number;
  /** The number of the line after these. */
  readonly next: number;
}

const NOTHING: LogHead = { chunk: -1, first_line: 0, lines: 0, bytes: 0, claim_epoch: 0, sequence: -1 };

/** Appends entries of a runner: those of its attempt that it had not sent before. */
export function appendNumbered(
  head: LogHead | undefined,
  epoch: number,
  entries: readonly NumberedEntry[],
): Appending {
  const sent = head?.claim_epoch === epoch ? head.sequence : -1;
  const fresh = entries.filter(({ sequence }) => sequence > sent);
  return append(
    { ...(head ?? NOTHING), claim_epoch: epoch, sequence: fresh.at(-1)?.sequence ?? sent },
    fresh,
  );
}

/** Appends a note of somebody else than the runner. */
export function appendNote(head: LogHead | undefined, note: LogEntry): Appending {
  return append(head ?? NOTHING, [note]);
}

/** Fills the last chunk, as far as it has room, and then new ones. */
function append(before: LogHead, entries: readonly LogEntry[]): Appending {
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
      writes.push({
        head,
        isNew,
        from,
        entries: [entry],
        text,
        ...(isNew && drops >= FIRST_CHUNKS && { drops }),
      });
    }
  }
  return { writes, accepted: entries.length, next: head.first_line + head.lines };
}

/** The changes that append to a task's log. */
export function appendChanges(
  { id, workspace }: CodingChanges['appendLog']['task'],
  head: Versioned<LogHead> | undefined,
  { writes }: Appending,
): LogChange[] {
  return writes.map((write) => ({
    kind: 'appendLog',
    task: { id, workspace },
    write,
    version: write.isNew ? undefined : head?.version,
  }));
}

/** The lines that `ChunkWrite.text` holds. */
export function parseLines(text: string, from: number): LogLine[] {
  return text
    .split('\n')
    .map((line, index) => ({ ...storedEntry.parse(JSON.parse(line)), line: from + index }));
}

export interface CodingChanges {
  /** Puts lines at the end of a task's log. Stale where somebody else has in between. */
  readonly appendLog: {
    readonly task: { readonly id: string; readonly workspace: string };
    readonly write: ChunkWrite;
    readonly version?: string | undefined;
  };
  /** The JSON of an attempt's result, in parts that fit into documents. */
  readonly storeResult: {
    readonly task: { readonly id: string; readonly workspace: string };
    readonly epoch: number;
    readonly parts: readonly string[];
  };
}

export const headDocument = z.object({
  /** From 0. */
  chunk: z.number(),
  /** The number of its first line, from 0 over the whole log. */
  first_line: z.number(),
  lines: z.number(),
  bytes: z.number(),
  /** The attempt that last appended, and the last sequence that it sent; -1 before the first. */
  claim_epoch: z.number(),
  sequence: z.number(),
});

/** The name of a part: an `n`, and the number of its first line. */
export const PART = /^n(\d+)$/;

/** A chunk. Its lines are text, one part an append, so that appending sends only what is new. */
export const chunkDocument = z.extend(headDocument, {
  parts: z.record(z.string().check(z.regex(PART)), z.string()),
});

export const { toDocument: headToDocument, fromDocument: headFromDocument } = documentCodec(headDocument);

/** The last chunk of a log, which knows where the log goes on. */
export type LogHead = ReturnType<typeof headFromDocument>;
