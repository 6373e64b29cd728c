/** Log of a coding task: its lines, and how they are stored. */
import { z } from 'zod/mini';
import type { ChangeOf, Versioned } from '../../../kernel/commit.ts';
import { documentCodec } from '../../../kernel/documentCodec.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const LOG_TYPES = ['system', 'agent', 'tool', 'command', 'output', 'git', 'acceptance', 'message'] as const;
export type LogType = (typeof LOG_TYPES)[number];

const storedEntry = z.object({
  at: z.pipe(
    z.iso.datetime(),
    z.transform((at) => new Date(at)),
  ),
  level: z.enum(LOG_LEVELS),
  type: z.enum(LOG_TYPES),
  /** Set if the last release cannot read the type. Then the field `type` contains one that it can read. */
  exact_type: z.optional(z.enum(LOG_TYPES)),
  /** Name of the tool, program or agent that the entry comes from. */
  prefix: z.optional(z.string()),
  message: z.string(),
  data: z.optional(z.unknown()),
});
export type LogEntry = Readonly<Omit<z.output<typeof storedEntry>, 'exact_type'>>;

/** Entry with its line number. Lines are numbered from 0 across all attempts of the task. */
export interface LogLine extends LogEntry {
  readonly line: number;
}

/** Entry with a `sequence` that increases within an attempt. Repeated entries are recognized by it. */
export interface NumberedEntry extends LogEntry {
  readonly sequence: number;
}

// A task's log is stored in chunks of many lines, because a document per line would cost one write per line. If a log
// exceeds the limit, chunks in its middle are deleted. Each chunk contains the number of its first line, so that a
// reader can compute how many lines are missing.

/** Maximum number of lines in a chunk, and maximum size of a chunk in bytes. */
export const CHUNK_LINES = 500;
const CHUNK_BYTES = 64 * 1024;

/** Number of chunks that are kept at the start of a log, and at its end. Full chunks are 10 MiB in total. */
export const FIRST_CHUNKS = 16;
export const LATEST_CHUNKS = 144;

interface ChunkWrite {
  head: LogHead;
  readonly isNew: boolean;
  /** Line number of the first of the `entries`. */
  readonly from: number;
  readonly entries: LogEntry[];
  text: string;
  /** Number of the chunk that is deleted to make room for this chunk. */
  readonly drops?: number;
}

interface AppendResult {
  readonly writes: readonly ChunkWrite[];
  readonly accepted: number;
  /** Number of the line that follows the appended lines. */
  readonly next: number;
}

const NOTHING: LogHead = { chunk: -1, first_line: 0, lines: 0, bytes: 0, claim_epoch: 0, sequence: -1 };

/** Appends the entries of a runner. Entries that the runner already sent in this attempt are skipped. */
export function appendNumbered(
  head: LogHead | undefined,
  epoch: number,
  entries: readonly NumberedEntry[],
): AppendResult {
  const sent = head?.claim_epoch === epoch ? head.sequence : -1;
  const fresh = entries.filter(({ sequence }) => sequence > sent);
  return append({ ...(head ?? NOTHING), claim_epoch: epoch, sequence: fresh.at(-1)?.sequence ?? sent }, fresh);
}

/** Appends an entry of a caller that is not the runner. */
export function appendNote(head: LogHead | undefined, note: LogEntry): AppendResult {
  return append(head ?? NOTHING, [note]);
}

/** Fills the last chunk, and then new chunks. */
function append(before: LogHead, entries: readonly LogEntry[]): AppendResult {
  const writes: ChunkWrite[] = [];
  let head = before;
  for (const entry of entries) {
    const { type } = entry;
    const text = JSON.stringify(type === 'message' ? { ...entry, type: 'system', exact_type: type } : entry);
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

/** Returns the changes that append the lines to a task's log. */
export function appendChanges(
  { id, workspace }: CodingChanges['appendLog']['task'],
  head: Versioned<LogHead> | undefined,
  { writes }: AppendResult,
): ChangeOf<CodingChanges>[] {
  return writes.map((write) => ({
    kind: 'appendLog',
    task: { id, workspace },
    write,
    version: write.isNew ? undefined : head?.version,
  }));
}

/** Returns the lines in a stored `ChunkWrite.text`. */
export function parseLines(text: string, from: number): LogLine[] {
  return text.split('\n').map((line, index) => {
    const { exact_type, ...entry } = storedEntry.parse(JSON.parse(line));
    return { ...entry, type: exact_type ?? entry.type, line: from + index };
  });
}

export interface CodingChanges {
  /** Appends lines to a task's log. The commit is stale if another call has appended lines after the log was read. */
  readonly appendLog: {
    readonly task: { readonly id: string; readonly workspace: string };
    readonly write: ChunkWrite;
    readonly version?: string | undefined;
  };
  /** Stores the JSON text of an attempt's result in parts, each of which fits into a document. */
  readonly storeResult: {
    readonly task: { readonly id: string; readonly workspace: string };
    readonly epoch: number;
    readonly parts: readonly string[];
  };
}

export const headDocument = z.object({
  /** Number of the chunk. The first chunk has the number 0. */
  chunk: z.number(),
  /** Line number of the chunk's first line, counted from 0 over the whole log. */
  first_line: z.number(),
  lines: z.number(),
  bytes: z.number(),
  /** Claim epoch of the attempt that last appended lines, and its last sequence. Both are -1 at first. */
  claim_epoch: z.number(),
  sequence: z.number(),
});

/** Name of a stored part: `n` and the line number of its first line. */
export const PART = /^n(\d+)$/;

/** Chunk of a log. Each append adds one part with its lines as text, so that only new lines are written. */
export const chunkDocument = z.extend(headDocument, { parts: z.record(z.string().check(z.regex(PART)), z.string()) });
export const { toDocument: headToDocument, fromDocument: headFromDocument } = documentCodec(headDocument);

/** State of a log: the last chunk without its lines. */
export type LogHead = ReturnType<typeof headFromDocument>;
