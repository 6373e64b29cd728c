/** Removes private keys in PEM and PuTTY formats from texts and from the lines of a stream. */
import { REDACTED } from './placeholder.ts';
import { hasOnlyWords, looksRandom } from './words.ts';

const SPACE = String.raw`(?: |%20|\+)`;
const marker = (word: string): string =>
  `-{4,5}${SPACE}?${word}${SPACE}(?:[A-Z0-9]{1,20}${SPACE}){0,4}PRIVATE${SPACE}KEY(?:${SPACE}BLOCK)?${SPACE}?-{4,5}`;
const BEGIN = new RegExp(String.raw`${marker('BEGIN')}|Private-Lines: \d{1,3}`);
const MARKERS = new RegExp(`(${BEGIN.source}|${marker('END')})`);

/** Line breaks: unescaped, escaped once or several times, and percent-encoded. */
const LINE_END = /(\r\n|\n|\r|(?:\\{1,8}[rn]|%0[ADad])+)/;

/** Maximum lines of a key after its start. A key of 8,192 bits has 100. */
const MAX_LINES = 120;

/** Minimum lengths of a key's line, in characters: after lines of the key, and after lines of other text. */
const MIN_LINE = 16;
const MIN_LINE_APART = 40;

/** Minimum length of a key's piece between a start and an end in one line, in characters. */
const MIN_PIECE_ENCLOSED = 4;

/** Maximum average run of letters of one kind. A key's first line has longer runs than random text. */
const MAX_AVERAGE_RUN = 5;
const KEY_TEXT = /^(?:[A-Za-z0-9+/]|\\\/|%2[BbFf])+(?:=|%3[Dd]){0,2}$/;
const KEY_CHARACTER = /[A-Za-z0-9+/=\\%]/;
const AFTER_KEY = /["'`,;)}\]\s]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: color codes start with a control character
const COLORS = /\u001b\[[0-9;?]{0,16}[A-Za-z]/g;
const HEX = /^[0-9a-f]+$/i;
const HEADER = /(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject): /;

/** Text before a line of a key: the sign of a diff, a quotation mark, a line number or an indentation. */
const DECORATION = /^[^A-Za-z]*$/;

/** State of the redactor after the first line of a key. */
interface Block {
  /** Pattern of the text before the first line of the key. A log repeats that text on each line. */
  readonly prefix: string;
  readonly linesLeft: number;
  /** Length of the key's previous line; undefined if other text followed that line. */
  readonly previous: number | undefined;
  /** Whether only headers, empty lines and lines of the key followed its first line. */
  readonly unbroken: boolean;
  /** Whether a placeholder already replaces a part of the key. */
  readonly noted: boolean;
}

/**
 * Creates a function that removes private keys from one stream's successive lines or texts. A placeholder replaces
 * the first line of a key; for its other lines, the function returns undefined. All other text is kept, even if a key
 * has a first line but no end.
 */
export function createKeyBlockRedactor(): (text: string) => string | undefined {
  let block: Block | undefined;
  return (text) => {
    if (block === undefined && !BEGIN.test(text)) return text;
    const [first = '', ...rest] = text.replace(COLORS, '').split(LINE_END);
    const kept: string[] = [];
    const take = (line: string, lineEnd: string): void => {
      const step = redactLine(line, block);
      block = step.block?.linesLeft === 0 ? undefined : step.block;
      if (step.text !== undefined) kept.push(kept.length === 0 ? step.text : `${lineEnd}${step.text}`);
    };
    take(first, '');
    for (let index = 0; index < rest.length; index += 2) take(rest[index + 1] ?? '', rest[index] ?? '');
    return kept.length === 0 ? undefined : kept.join('');
  };
}

interface Step {
  /** Undefined if the line is removed. */
  readonly text: string | undefined;
  readonly block: Block | undefined;
}

function redactLine(line: string, block: Block | undefined): Step {
  const [first = '', ...rest] = line.split(MARKERS);
  const start: Step = block === undefined ? { text: first, block } : redactBody(first, block);
  if (rest.length === 0) return start;
  const texts = [start.text ?? ''];
  let current: Block | undefined;
  for (let index = 0; index < rest.length; index += 2) {
    const [mark = '', after = '', next] = rest.slice(index, index + 3);
    const begins = BEGIN.test(mark);
    const safe = begins ? withoutPieces(after, next !== undefined) : after;
    current = begins ? newBlock(shape(first), safe !== after) : undefined;
    texts.push(mark, safe);
  }
  return { text: texts.join(''), block: current };
}

function newBlock(prefix: string, noted: boolean): Block {
  return { prefix, linesLeft: MAX_LINES, previous: undefined, unbroken: true, noted };
}

/** Removes a key that is in the same line as its start, in one or several pieces. */
function withoutPieces(text: string, enclosed: boolean): string {
  const pieces = text.split(/([\s"',]+)/);
  const min = enclosed ? MIN_PIECE_ENCLOSED : MIN_LINE;
  const first = pieces.findIndex((piece) => isPiece(piece, min));
  if (first < 0) return text;
  // The last piece of a key can be short, and can look like words.
  const last = pieces.findLastIndex((piece) => (enclosed ? KEY_TEXT.test(piece) : isPiece(piece, min)));
  return [...pieces.slice(0, first), REDACTED, ...pieces.slice(last + 1)].join('');
}

function isPiece(text: string, min: number): boolean {
  return text.length >= min && KEY_TEXT.test(text) && !hasOnlyWords(text);
}

function redactBody(line: string, block: Block): Step {
  const next = { ...block, linesLeft: block.linesLeft - 1 };
  const [before, key, after] = dividedAtKey(line);
  if (!isKeyLine(before, key, block)) {
    const passes = !/[A-Za-z0-9]/.test(line) || HEADER.test(line) || isOfAnotherSource(line, block);
    return { text: line, block: passes ? next : { ...next, previous: undefined, unbroken: false } };
  }
  const removed = { ...next, previous: plain(key).length, noted: true };
  const closes = /["'`)}\]]/.test(after);
  return { text: block.noted && !closes ? undefined : `${before}${REDACTED}${after}`, block: removed };
}

/** Compares the text before a log line with that of the key's lines, to detect lines of another program. */
function isOfAnotherSource(line: string, { prefix }: Block): boolean {
  return /[A-Za-z]/.test(prefix) && !shape(line).startsWith(prefix);
}

function isKeyLine(before: string, key: string, block: Block): boolean {
  if (!DECORATION.test(before) && shape(before) !== block.prefix) return false;
  if (!KEY_TEXT.test(key)) return false;
  // Some lines of random letters consist of syllables, like words. A plus sign of a line can be that of a diff.
  const { length } = plain(key);
  if (length >= MIN_LINE && Math.abs(length - (block.previous ?? 0)) <= 1) return true;
  if (hasOnlyWords(key)) return false;
  // Accepts a key's last line, which is shorter, and the lines of an old key that consists of zeros.
  if (block.previous !== undefined && length <= block.previous) return true;
  // A line with only a commit id is not part of a key.
  if (HEX.test(key) || isPath(key)) return false;
  return key.length >= (block.unbroken ? MIN_LINE : MIN_LINE_APART);
}

/** Returns a key's line without escapes and percent-encoding. */
function plain(key: string): string {
  return key.replace(/\\\/|%2[BF]|%3D/gi, '/');
}

/** Returns whether a text is a path. A path without dots has only characters that base64 has too. */
function isPath(text: string): boolean {
  return text.includes('/') && !looksRandom(text, MAX_AVERAGE_RUN);
}

/** Divides a line into the text before the key, the key, and the text after the key. */
function dividedAtKey(line: string): readonly [string, string, string] {
  const concatenated = /["'`]\s?\+\s?$/.test(line.slice(-4));
  let end = concatenated ? line.lastIndexOf('+') : line.length;
  while (end > 0 && AFTER_KEY.test(line.charAt(end - 1))) end -= 1;
  let start = end;
  while (start > 0 && KEY_CHARACTER.test(line.charAt(start - 1))) start -= 1;
  // The plus sign of a diff is also a character of base64.
  if (start === 0 && line.startsWith('+')) start = 1;
  return [line.slice(0, start), line.slice(start, Math.max(start, end)), line.slice(Math.max(start, end))];
}

function shape(text: string): string {
  return text.replace(/\d+/g, '0').trim();
}
