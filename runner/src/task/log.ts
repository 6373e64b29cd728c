/** The log of an attempt: redacted, bounded, and sent by the outbox. */
import type { LogEntry } from '../hub/hub.ts';
import type { Redactor } from '../redaction.ts';

/** Of one entry. Source: append_logs. */
const MAX_MESSAGE_CHARACTERS = 15_000;
const MAX_PREFIX_CHARACTERS = 100;

/** Of what programs print in one attempt: beyond it only what the runner itself says is sent. */
const MAX_OUTPUT_CHARACTERS = 8 * 1024 * 1024;

type Level = LogEntry['level'];
type Type = LogEntry['type'];

export interface Details {
  readonly level?: Level;
  readonly prefix?: string | undefined;
  /** The most characters of the message to keep. */
  readonly most?: number;
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

  /** To be done before a text is cut: half a secret is not recognised. */
  redact(text: string): string {
    return this.redactor.text(printable(text));
  }

  add(
    type: Type,
    message: string,
    { level = 'info', prefix, most = MAX_MESSAGE_CHARACTERS }: Details = {},
  ): void {
    const said = this.redact(message);
    if (said.trim() === '') return;
    this.append({
      at: new Date().toISOString(),
      level,
      type,
      ...(prefix && { prefix: this.redact(prefix).slice(0, MAX_PREFIX_CHARACTERS) }),
      message: shortened(said, most),
    });
  }

  /** What a program prints, of which there may be any amount. */
  print(type: Type, message: string, details: Details = {}): void {
    this.printed += Math.min(message.length, MAX_MESSAGE_CHARACTERS);
    if (this.printed > MAX_OUTPUT_CHARACTERS) this.dropped += 1;
    else this.add(type, message, details);
  }

  /** Says how much was left out. */
  close(): void {
    if (this.dropped === 0) return;
    const mebibytes = MAX_OUTPUT_CHARACTERS / 1024 / 1024;
    this.add('system', `${this.dropped} more lines of output were left out after ${mebibytes} MiB.`, {
      level: 'warn',
    });
    this.dropped = 0;
  }
}

/** Without colours, and without the control characters that no log can show. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to go
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}
