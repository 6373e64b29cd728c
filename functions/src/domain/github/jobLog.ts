/** The log of a job of GitHub Actions, made readable. */
import { sentBytes } from '../size.ts';
import { withoutCodes } from '../terminalText.ts';
import { plainText } from './text.ts';

/** What GitHub puts before each line. */
const TIMESTAMP = /^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /;

const MAX_LINE_LENGTH = 2000;

export interface Tail {
  readonly text: string;
  readonly lines: number;
}

/**
 * The last lines, without timestamps and terminal codes.
 * @param mostBytes what they may take of an answer
 */
export function logTail(log: string, lines: number, mostBytes: number): Tail {
  const all = log.replace(/\r\n?/g, '\n').replace(/\n+$/, '').split('\n').slice(-lines);
  const plain = all.map((line) => plainText(withoutCodes(line.replace(TIMESTAMP, '')), MAX_LINE_LENGTH));
  let bytes = 0;
  const tooFar = plain.findLastIndex((line) => {
    bytes += sentBytes(JSON.stringify(line));
    return bytes > mostBytes;
  });
  const shown = plain.slice(tooFar + 1);
  return { text: shown.join('\n'), lines: shown.length };
}
