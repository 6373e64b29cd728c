/** Rows of a log: its lines in parts that can be folded, or only the lines that contain the searched words. */
import { folded as withoutCase } from '../../../../functions/src/kernel/textSearch.ts';
import type { Line } from './lines.ts';

export type LogRow =
  | { readonly kind: 'line'; readonly key: string; readonly line: Line }
  /** Head of a part. A part ends before a pause of some minutes, such as between attempts. */
  | {
      readonly kind: 'part';
      readonly key: string;
      readonly part: number;
      readonly at: Date;
      readonly count: number;
      readonly isFolded: boolean;
    };

const PAUSE_MS = 3 * 60_000;

/** @param folded numbers of the folded parts, which are the numbers of their first lines */
export function rowsOfLog(lines: readonly Line[], words: string, folded: ReadonlySet<number>): readonly LogRow[] {
  const asRow = (line: Line): LogRow => ({ kind: 'line', key: String(line.number), line });
  const sought = withoutCase(words.trim());
  if (sought !== '') return lines.filter((line) => withoutCase(line.text).includes(sought)).map(asRow);
  const parts: Line[][] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    const before = last?.at(-1);
    if (last === undefined || before === undefined || line.at.getTime() - before.at.getTime() > PAUSE_MS)
      parts.push([line]);
    else last.push(line);
  }
  if (parts.length < 2) return lines.map(asRow);
  return parts.flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    const part = first.number;
    const isFolded = folded.has(part);
    const head: LogRow = { kind: 'part', key: `part ${part}`, part, at: first.at, count: members.length, isFolded };
    return [head, ...(isFolded ? [] : members.map(asRow))];
  });
}
