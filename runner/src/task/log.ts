/** Writes an attempt's log: redacts it, limits its size, and passes it to the outbox. */
import type { LogEntry } from '../hub/hub.ts';
import type { Redactor } from '../redaction.ts';
import { clean, cut, shortened } from '../text.ts';

/** Maximum length of one entry, within the limit of `append_logs`. */
const MAX_MESSAGE_CHARACTERS = 15_000;
const MAX_PREFIX_CHARACTERS = 100;

/** Maximum program output of one attempt. After that, only the runner's own entries are sent. */
const MAX_OUTPUT_CHARACTERS = 8 * 1024 * 1024;

type Level = LogEntry['level'];
type Type = LogEntry['type'];

export interface Details {
  readonly level?: Level;
  readonly prefix?: string | undefined;
  /** Maximum characters of the message to keep. */
  readonly max?: number;
  readonly data?: LogEntry['data'];
}

export class TaskLog {
  private readonly redactor: Redactor;
  private readonly append: (entry: Omit<LogEntry, 'sequence'>) => void;
  private printed = 0;
  private dropped = 0;

  constructor(redactor: Redactor, append: (entry: Omit<LogEntry, 'sequence'>) => void) {
    this.redactor = redactor;
    this.append = append;
  }

  /** Redacts a text and removes control characters. Call it before cutting, because half a secret is not found. */
  redact(text: string): string {
    const redacted = this.redactor.text(text);
    const shown = printable(redacted);
    // Redact again, because a color code or carriage return, which is gone now, can have hidden a secret.
    return shown === redacted ? shown : this.redactor.text(shown);
  }

  add(type: Type, message: string, { level = 'info', prefix, max = MAX_MESSAGE_CHARACTERS, data }: Details = {}): void {
    const text = this.redact(message);
    if (text.trim() === '') return;
    this.append({
      at: new Date().toISOString(),
      level,
      type,
      ...(prefix && { prefix: cut(this.redact(prefix), MAX_PREFIX_CHARACTERS) }),
      message: shortened(text, max),
      ...(data && { data }),
    });
  }

  /** Adds a line of a program's output, unless the output has reached its limit. */
  print(type: Type, message: string, details: Details = {}): void {
    this.printed += Math.min(message.length, MAX_MESSAGE_CHARACTERS);
    if (this.printed > MAX_OUTPUT_CHARACTERS) this.dropped += 1;
    else this.add(type, message, details);
  }

  /** Adds an entry with the number of omitted lines. */
  close(): void {
    if (this.dropped === 0) return;
    const mebibytes = MAX_OUTPUT_CHARACTERS / 1024 / 1024;
    this.add('system', `${this.dropped} more lines of output were omitted after ${mebibytes} MiB.`, { level: 'warn' });
    this.dropped = 0;
  }
}

/** Returns the text as valid Unicode, without colors and control characters. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
  return clean(text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, ''));
}
