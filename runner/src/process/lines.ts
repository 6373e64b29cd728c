import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { cut } from '../text.ts';

/** Maximum length of a line, in characters. The longest lines contain files that a coding agent has read. */
const MAX_LINE_CHARACTERS = 8 * 1024 * 1024;

/** Characters that are read beyond the maximum, so that the line is not cut within a secret or a word. */
const MAX_REST_CHARACTERS = MAX_LINE_CHARACTERS + 1024;

/** Maximum length of a partial word that is removed from the end of a cut line. */
const MAX_WORD_CHARACTERS = 16_384;

/** Calls back with each line, including a last line without a line break. Cuts lines that are too long. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_REST_CHARACTERS);
    for (const line of lines) onLine(shortened(withoutReturn(line)));
  };
  stream.on('data', (chunk: Buffer) => take(decoder.write(chunk)));
  stream.on('error', () => undefined); // All lines before the error are still processed.
  stream.on('close', () => {
    take(decoder.end());
    if (rest !== '') onLine(shortened(rest));
    rest = '';
  });
}

/** Cuts a line before its last word, because the beginning of a secret would no longer be recognized. */
function shortened(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const min = MAX_LINE_CHARACTERS - MAX_WORD_CHARACTERS;
  let end = MAX_LINE_CHARACTERS;
  while (end > min && /\S/.test(line.charAt(end - 1))) end -= 1;
  return cut(line, end);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
