/** Text of others in terminals: nothing in it steers the terminal, hides or reorders what is shown. */

import { HIDDEN } from './hidden.ts';

/** Colours, titles and the like in others' output, which a terminal would obey. Source: ECMA-48. */
const CODES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** Without the codes of terminals. */
export function withoutCodes(text: string): string {
  return text.replace(CODES, '');
}

/** Without the codes of terminals; any other hidden character can be seen, as U+FFFD. */
export function terminalText(text: string): string {
  return withoutCodes(text).replace(/\r\n?/g, '\n').replace(HIDDEN, '\ufffd');
}

/** Lines for a terminal, of which none becomes two: what begins one is the answer's own, whatever others wrote. */
export function terminalLines(lines: readonly string[]): string {
  return lines.map((line) => terminalLine(line).trimEnd()).join('\n');
}

/** On one line of a terminal. */
function terminalLine(text: string): string {
  return terminalText(text).replace(/\s*\n\s*/g, ' / ');
}

/** Lines of others, each behind a bar, so that nobody takes them for the answer's own. */
export function quotedLines(text: string): readonly string[] {
  return terminalText(text.trimEnd())
    .split('\n')
    .map((line) => `  | ${line}`);
}

/** Lines in columns of the same width; those that are empty everywhere are left out. */
export function columnLines(rows: readonly (readonly string[])[]): readonly string[] {
  const lines = rows.map((row) => row.map(terminalLine));
  const most = Math.max(0, ...lines.map((row) => row.length));
  const widths = Array.from({ length: most }, (_, column) =>
    Math.min(MAX_COLUMN_WIDTH, Math.max(...lines.map((row) => row[column]?.length ?? 0))),
  );
  return lines.map((row) => {
    const cells = row.map((cell, column) => ({ cell, width: widths[column] ?? 0 }));
    const shown = cells.filter(({ width }) => width > 0).map(({ cell, width }) => cell.padEnd(width));
    return `  ${shown.join('  ')}`.trimEnd();
  });
}

/** A longer one sticks out, rather than that all others are filled up. */
const MAX_COLUMN_WIDTH = 40;

/** Returns the length of a text in characters, as JSON Schema and security rules count them: in code points. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Returns whether a text has at most so many characters. */
export function hasAtMost(text: string, most: number): boolean {
  // A character takes one or two units, so that most texts need no count.
  return text.length <= most || (text.length <= 2 * most && characterCount(text) <= most);
}
