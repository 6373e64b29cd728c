/** Sections of the documentation that `npm run bench -- --write` writes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { missedTargets, type Origin, type Stored } from './figures.ts';
import type { Figure, Measurement } from './measurement.ts';
import type { CostRow } from './measurements/cost.ts';
import { numberText, targetText } from './report.ts';

const PAGES = {
  results: 'docs/benchmarks.md',
  cost: 'docs/benchmarks.md',
  running: 'docs/guides/operations.md',
  figures: 'README.md',
} as const;
type Section = keyof typeof PAGES;

function pageOf(section: Section): URL {
  return new URL(`../${PAGES[section]}`, import.meta.url);
}

export function costTable(rows: readonly CostRow[]): string {
  const names = [...new Set(rows.map(({ what }) => what))];
  const grouped = names.flatMap((name) => rows.filter(({ what }) => what === name));
  return table(
    ['tool or resource', 'reads', 'writes', 'deletes', 'situation'],
    grouped.map(({ what, reads, writes, deletes, situation }) => [`\`${what}\``, reads, writes, deletes, situation]),
  );
}

/** Returns the results for the benchmarks page, grouped by their origin. */
export function resultText(figures: readonly Stored[]): string {
  const sections = [...new Set(figures.map(originText))].map((origin) => {
    const group = figures.filter((one) => originText(one) === origin);
    const missed = group.flatMap(missedTargets).map((text) => `- ${text}`);
    return [
      `${origin}:`,
      table(['benchmark', 'ratio in two runs', 'lowest to highest', 'target', 'medians of two runs'], group.map(rowOf)),
      ...(missed.length === 0 ? [] : ['Missed targets:', missed.join('\n')]),
    ].join('\n\n');
  });
  return sectionText(sections.join('\n\n'));
}

/** Figures that matter to users: the measurement, its figure, and the text in the README. */
const SHOWN = [
  ['claim', 'claims/s', 'claims per second of one instance with 32 workers'],
  ['coldStart', 'ms', 'milliseconds from the start of an instance to its first response'],
] as const;

/** Returns the figures for the README. */
export function shownFigures(figures: readonly Stored[]): string {
  const lines = SHOWN.flatMap(([name, figure, text]) => {
    const stored = figures.find(({ runs: [first] }) => first.name === name);
    if (stored === undefined) return [];
    const medians = stored.runs.map((run) => medianText(run.figures[figure])).join(' and ');
    return [`- ${medians} ${text} (\`npm run bench -- --only ${name}\`). ${originText(stored)}.`];
  });
  return sectionText(lines.join('\n'));
}

/** A blank line separates the comments around a section from its text. */
function sectionText(text: string): string {
  return `\n${text || 'No figures are stored.'}\n`;
}

function originText({ version, commit, date, machine }: Origin): string {
  return `Muster ${version} at commit ${commit}, measured on ${date} on ${machine}`;
}

function rowOf({ runs: [first, second] }: Stored): readonly string[] {
  const { name, title, ratio, target, figures, figureTargets } = first;
  const parts = Object.entries(figures).map(([what, figure]) => {
    const aim = figureTargets?.[what];
    const texts = [medianText(figure), medianText(second.figures[what])];
    const both = texts[0] === texts[1] ? texts[0] : texts.join(', ');
    return `${what}: ${both}${aim === undefined ? '' : ` (target ${targetText(aim)})`}`;
  });
  return [`\`${name}\``, ...ratioCells(ratio, second.ratio), targetText(target), `${title}. ${parts.join('; ')}`];
}

function ratioCells(first: Measurement['ratio'], second: Measurement['ratio']): readonly [string, string] {
  if (first === undefined || second === undefined) return ['', ''];
  const [lowest, highest] = [Math.min(first.min, second.min), Math.max(first.max, second.max)];
  return [
    `${numberText(first.median)}, ${numberText(second.median)}`,
    `${numberText(lowest)} to ${numberText(highest)}`,
  ];
}

function medianText(figure: Figure | undefined): string {
  if (typeof figure === 'object') return numberText(figure.median);
  return typeof figure === 'number' ? numberText(figure) : (figure ?? 'not measured');
}

/** Returns whether a page shows this text in a section. */
export function isCurrent(section: Section, text: string): boolean {
  return sectionOf(readFileSync(pageOf(section), 'utf8'), section).text.trim() === text.trim();
}

export function write(section: Section, text: string): void {
  const page = pageOf(section);
  const whole = readFileSync(page, 'utf8');
  const { start, end } = sectionOf(whole, section);
  writeFileSync(page, `${whole.slice(0, start)}\n${text}\n${whole.slice(end)}`);
}

function sectionOf(whole: string, section: Section): { start: number; end: number; text: string } {
  const begin = `<!-- ${section}: written by npm run bench -- --write -->`;
  const start = whole.indexOf(begin) + begin.length;
  const end = whole.indexOf(`<!-- /${section} -->`);
  if (start < begin.length || end < start) throw new Error(`${PAGES[section]} has no section "${section}".`);
  return { start, end, text: whole.slice(start, end) };
}

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
