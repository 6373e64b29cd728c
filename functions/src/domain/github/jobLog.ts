/** The log of a job of GitHub Actions, made readable. */
import { withoutCodes } from '../terminalText.ts';
import { plainText } from './text.ts';

/** What GitHub puts before each line. */
const TIMESTAMP = /^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /;

const MAX_LINE_LENGTH = 2000;

export interface Tail {
  readonly text: string;
  readonly lines: number;
}

/** The last lines, without timestamps and terminal codes. */
export function logTail(log: string, lines: number): Tail {
  const all = log.replace(/\r\n?/g, '\n').replace(/\n+$/, '').split('\n').slice(-lines);
  const plain = all.map((line) => plainText(withoutCodes(line.replace(TIMESTAMP, '')), MAX_LINE_LENGTH));
  return { text: plain.join('\n'), lines: plain.length };
}
