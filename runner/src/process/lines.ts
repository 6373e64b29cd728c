import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { cut } from '../text.ts';

/** Maximum size of one line. The longest that coding agents print are files that they read. */
const MAX_LINE_CHARACTERS = 8 * 1024 * 1024;

/** Read beyond the maximum, so that the cut considers the characters after it. */
const MAX_REST_CHARACTERS = MAX_LINE_CHARACTERS + 1024;

/** Longest word that is removed from the end of a cut line. */
const MAX_WORD_CHARACTERS = 16_384;

/** Calls back with each line, including a last one without its end. Cuts lines that are too long. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_REST_CHARACTERS);
    for (const line of lines) onLine(shortened(withoutReturn(line)));
  };
  stream.on('data', (chunk: Buffer) => take(decoder.write(chunk)));
  stream.on('error', () => undefined); // Everything that was read is processed.
  stream.on('close', () => {
    take(decoder.end());
    if (rest !== '') onLine(shortened(rest));
    rest = '';
  });
}

/** A cut can leave the beginning of a secret, which no longer has a known form. */
function shortened(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const least = MAX_LINE_CHARACTERS - MAX_WORD_CHARACTERS;
  let end = MAX_LINE_CHARACTERS;
  while (end > least && /\S/.test(line.charAt(end - 1))) end -= 1;
  return cut(line, end);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
