/** The log of a job of GitHub Actions, made readable. */
import { plainText } from './text.ts';

/** Colours and cursor movements of terminals. Source: ECMA-48. */
const ANSI =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

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
  const plain = all.map((line) => plainText(line.replace(TIMESTAMP, '').replace(ANSI, ''), MAX_LINE_LENGTH));
  return { text: plain.join('\n'), lines: plain.length };
}
