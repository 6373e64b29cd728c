/**
 * Stores an attempt's log on disk, as one JSON line per entry. Entries are sent from disk, so they use no memory
 * while the network is down, and they are not lost if the runner crashes.
 */
import { closeSync, fstatSync, ftruncateSync, constants as modes, openSync, readSync, writeSync } from 'node:fs';
import { z } from 'zod';
import type { LogEntry } from '../hub/hub.ts';

/** Limits of one `append_logs` call. The tool also counts the JSON around the entries. */
export const MAX_BATCH_ENTRIES = 500;
const MAX_BATCH_BYTES = 200 * 1024;
const NEWLINE = 10;

const logEntry: z.ZodType<LogEntry> = z.object({
  sequence: z.number(),
  at: z.string(),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  type: z.enum(['system', 'agent', 'tool', 'command', 'output', 'git', 'acceptance', 'message']),
  prefix: z.string().exactOptional(),
  message: z.string(),
  data: z.object({ message_id: z.string(), sent_at: z.string() }).exactOptional(),
});

export interface Batch {
  readonly entries: readonly LogEntry[];
  /** Position in the file, in bytes, at which the next batch starts. */
  readonly end: number;
  /** Number of lines of the file that the batch covers, including lines that are not entries. */
  readonly lines: number;
  /** Number of missing lines that the batch's last entry reports. */
  readonly reported: number;
}

/** No method throws. If the disk is full or broken, the journal loses log lines, but the attempt continues. */
export class Journal {
  private file: number | undefined;
  private written = 0;
  /** Position in the file, in bytes, up to which everything has been sent. */
  private sent = 0;
  private next = 0;
  /** Lines on disk that have not been sent. */
  private unsent = 0;
  /** Number of lines that could not be written and that no entry has reported yet. */
  private missing = 0;
  private why = '';
  private isComplete = false;

  /** Opens a journal, or continues the journal of another process. */
  constructor(path: string) {
    try {
      this.file = openSync(path, modes.O_RDWR | modes.O_CREAT, 0o600);
      this.adopt(this.file);
    } catch (error) {
      this.file = undefined;
      this.why = reasonOf(error);
    }
  }

  /** Number of bytes that wait to be sent. */
  get waiting(): number {
    return this.written - this.sent;
  }

  /** Error of the file system that explains why lines are missing. */
  get reason(): string {
    return this.why;
  }

  /** Returns whether the entry was written. If earlier entries were lost, an entry about the gap is written first. */
  append(entry: Omit<LogEntry, 'sequence'>): boolean {
    // Both entries are written, or neither is. Otherwise, reports of gaps could fill a disk that is almost full.
    const entries = this.missing > 0 ? [this.gap(), entry] : [entry];
    const lines = entries.map((one, at) => `${JSON.stringify({ sequence: this.next + at, ...one })}\n`);
    const bytes = Buffer.from(lines.join(''));
    try {
      this.write(bytes);
    } catch (error) {
      this.missing += 1;
      this.why = reasonOf(error);
      return false;
    }
    this.next += lines.length;
    this.unsent += lines.length;
    this.written += bytes.length;
    this.missing = 0;
    return true;
  }

  /** Ends the log. If the last lines could not be written, the last batch reports that they are missing. */
  complete(): void {
    this.isComplete = true;
  }

  /**
   * Returns the next batch to send; undefined if nothing waits.
   * @param max maximum number of entries
   */
  batch(max = MAX_BATCH_ENTRIES): Batch | undefined {
    while (this.waiting > 0) {
      const batch = this.read(max);
      if (batch === undefined) this.skip();
      else if (batch.entries.length > 0) return batch;
      else this.settle(batch);
    }
    if (!this.isComplete || this.missing === 0) return undefined;
    const entries = [{ sequence: this.next, ...this.gap() }];
    return { entries, end: this.sent, lines: 0, reported: this.missing };
  }

  settle({ entries, end, lines, reported }: Batch): void {
    this.sent = end;
    this.unsent -= lines;
    this.missing += lines === 0 ? -reported : lines - entries.length;
    if (reported > 0) this.next += 1;
  }

  close(): void {
    const { file } = this;
    this.file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      // If closing fails, nothing is lost.
    }
  }

  /** Writes after the last complete line. A partial line is cut off, or overwritten by the next line. */
  private write(bytes: Buffer): void {
    const { file, written } = this;
    if (file === undefined) throw new Error(this.why || 'the log is closed');
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, written + done);
    } finally {
      if (done > 0 && done < bytes.length) ftruncateSync(file, written);
    }
  }

  /** Returns undefined if the file cannot be read, or if a line is longer than the runner's maximum. */
  private read(max: number): Batch | undefined {
    const bytes = Buffer.alloc(Math.min(this.waiting, MAX_BATCH_BYTES));
    try {
      if (this.file === undefined) return undefined;
      readSync(this.file, bytes, 0, bytes.length, this.sent);
    } catch (error) {
      this.why = reasonOf(error);
      return undefined;
    }
    const entries: LogEntry[] = [];
    let length = 0;
    let lines = 0;
    for (; lines < max; lines++) {
      const end = bytes.indexOf(NEWLINE, length);
      if (end === -1) break;
      const entry = entryIn(bytes.toString('utf8', length, end));
      if (entry !== undefined) entries.push(entry);
      length = end + 1;
    }
    return lines === 0 ? undefined : { entries, end: this.sent + length, lines, reported: 0 };
  }

  /** Skips the lines that wait to be sent, and counts them as missing. */
  private skip(): void {
    this.missing += this.unsent;
    this.unsent = 0;
    this.sent = this.written;
  }

  private gap(): Omit<LogEntry, 'sequence'> {
    const why = this.why === '' ? '' : ` (${this.why})`;
    const lines = this.missing === 1 ? '1 line is' : `${this.missing} lines are`;
    const message = `${lines} missing from the log, because the runner could not write to disk${why}.`;
    return { at: new Date().toISOString(), level: 'warn', type: 'system', message };
  }

  /** Counts the complete lines of an existing file. The next line overwrites a partial line. */
  private adopt(file: number): void {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(size);
    readSync(file, bytes, 0, size, 0);
    this.written = bytes.lastIndexOf(NEWLINE) + 1;
    let last = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
      this.unsent += 1;
      if (at + 1 < this.written) last = at + 1;
    }
    const entry = entryIn(bytes.toString('utf8', last, Math.max(last, this.written - 1)));
    this.next = Math.max(this.unsent, (entry?.sequence ?? -1) + 1);
  }
}

function entryIn(line: string): LogEntry | undefined {
  try {
    return logEntry.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // The line is not JSON, because a part of it was lost on disk.
  }
}

/** Returns an error's code, such as ENOSPC, because the messages of the file system contain paths. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
