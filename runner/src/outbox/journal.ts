/**
 * The log of an attempt on disk, a JSON line an entry, from where it is sent: what waits for the network is in no
 * memory, and survives the runner.
 */
import { appendFileSync, closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import type { LogEntry } from '../hub/hub.ts';

/** Of one call. Source: append_logs, which also counts what JSON adds around the entries. */
const MAX_BATCH_ENTRIES = 500;
const MAX_BATCH_BYTES = 200 * 1024;
const NEWLINE = 10;

export interface Batch {
  readonly entries: readonly LogEntry[];
  /** Where the journal goes on after them. */
  readonly end: number;
}

export class Journal {
  private readonly file: number;
  private written: number;
  /** Up to here all is sent. */
  private sent = 0;
  private next = 0;

  /** Opens a journal, or goes on with one that another process has left. */
  constructor(path: string) {
    this.file = openSync(path, 'a+');
    this.written = this.repaired();
  }

  /** How many bytes wait to be sent. */
  get waiting(): number {
    return this.written - this.sent;
  }

  append(entry: Omit<LogEntry, 'sequence'>): void {
    const line = Buffer.from(`${JSON.stringify({ sequence: this.next, ...entry })}\n`);
    appendFileSync(this.file, line);
    this.next += 1;
    this.written += line.length;
  }

  /** What is to be sent next; undefined when nothing is. */
  batch(): Batch | undefined {
    if (this.waiting === 0) return undefined;
    const bytes = Buffer.alloc(Math.min(this.waiting, MAX_BATCH_BYTES));
    readSync(this.file, bytes, 0, bytes.length, this.sent);
    const entries: LogEntry[] = [];
    let length = 0;
    while (entries.length < MAX_BATCH_ENTRIES) {
      const end = bytes.indexOf(NEWLINE, length);
      if (end === -1) break;
      entries.push(JSON.parse(bytes.toString('utf8', length, end)));
      length = end + 1;
    }
    return { entries, end: this.sent + length };
  }

  settle(batch: Batch): void {
    this.sent = batch.end;
  }

  close(): void {
    closeSync(this.file);
  }

  /** Cuts off a line that was written half, and counts the others. Returns the length. */
  private repaired(): number {
    const { size } = fstatSync(this.file);
    const bytes = Buffer.alloc(size);
    readSync(this.file, bytes, 0, size, 0);
    const length = bytes.lastIndexOf(NEWLINE) + 1;
    if (length < size) ftruncateSync(this.file, length);
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) this.next += 1;
    return length;
  }
}
