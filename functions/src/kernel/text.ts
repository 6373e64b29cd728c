/** Safe display of untrusted text in terminals: it can neither control the terminal nor hide or reorder text. */
import { HIDDEN_CHARACTERS } from './hiddenCharacters.ts';

/** Terminal escape sequences, which set colors or window titles, for example. Source: ECMA-48. */
const CODES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** Returns the text without terminal escape sequences. */
export function withoutCodes(text: string): string {
  return text.replace(CODES, '');
}

/** Returns the text without terminal escape sequences. Each remaining hidden character becomes U+FFFD. */
export function terminalText(text: string): string {
  return withoutCodes(text).replace(/\r\n?/g, '\n').replace(HIDDEN_CHARACTERS, '\ufffd');
}

/** Joins lines for a terminal. Each text stays one line, because untrusted text must not be able to start a line. */
export function terminalLines(lines: readonly string[]): string {
  return lines.map((line) => terminalLine(line).trimEnd()).join('\n');
}

function terminalLine(text: string): string {
  return terminalText(text).replace(/\s*\n\s*/g, ' / ');
}

/** Returns untrusted text as lines that start with a bar, to distinguish them from the response's own lines. */
export function quotedLines(text: string): readonly string[] {
  return terminalText(text.trimEnd())
    .split('\n')
    .map((line) => `  | ${line}`);
}

/** Returns rows of a table as lines with aligned columns. Empty columns are omitted. */
export function columnLines(rows: readonly (readonly string[])[]): readonly string[] {
  const lines = rows.map((row) => row.map(terminalLine));
  const columns = Math.max(0, ...lines.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.min(MAX_COLUMN_WIDTH, Math.max(...lines.map((row) => row[column]?.length ?? 0))),
  );
  return lines.map((row) => {
    const cells = row.map((cell, column) => ({ cell, width: widths[column] ?? 0 }));
    const shown = cells.filter(({ width }) => width > 0).map(({ cell, width }) => cell.padEnd(width));
    return `  ${shown.join('  ')}`.trimEnd();
  });
}

/** Maximum width to which the cells of a column are padded, in characters. */
const MAX_COLUMN_WIDTH = 40;

/** Returns the length of a text in code points, which JSON Schema and the security rules count as characters. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Returns at most `max` code points of a text, with an ellipsis if it is longer. */
export function shortened(text: string, max: number): string {
  const all = [...text];
  return all.length > max ? `${all.slice(0, max).join('')}…` : text;
}

/** Returns whether a text has at most `max` code points. */
export function hasAtMost(text: string, max: number): boolean {
  // A code point has one or two UTF-16 units, so the length of most texts decides without counting.
  return text.length <= max || (text.length <= 2 * max && characterCount(text) <= max);
}
