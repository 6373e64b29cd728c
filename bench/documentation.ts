/** Sections of the documentation that `npm run bench -- --write` writes. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Measurement } from './measurement.ts';
import type { CostRow } from './measurements/cost.ts';
import { figureText, spreadText, targetText } from './report.ts';

const PAGES = { results: 'benchmarks.md', cost: 'benchmarks.md', running: 'guides/operations.md' } as const;

type Section = keyof typeof PAGES;

function pageOf(section: Section): URL {
  return new URL(`../docs/${PAGES[section]}`, import.meta.url);
}

export function costTable(rows: readonly CostRow[]): string {
  const names = [...new Set(rows.map(({ what }) => what))];
  const grouped = names.flatMap((name) => rows.filter(({ what }) => what === name));
  return table(
    ['tool or resource', 'reads', 'writes', 'deletes', 'situation'],
    grouped.map(({ what, reads, writes, deletes, situation }) => [`\`${what}\``, reads, writes, deletes, situation]),
  );
}

export function resultTable(measurements: readonly Measurement[]): string {
  return table(
    ['benchmark', 'ratio (lowest to highest)', 'target', 'measurement'],
    measurements.flatMap(({ name, title, ratio, target, figures }) => {
      if (ratio === undefined) return [];
      const parts = Object.entries(figures).map(([what, figure]) => `${what}: ${figureText(figure)}`);
      return [[`\`${name}\``, spreadText(ratio), targetText(target), `${title}. ${parts.join('; ')}`]];
    }),
  );
}

/** Returns whether the benchmarks page shows this table of costs. */
export function isCurrent(costs: string): boolean {
  return sectionOf(readFileSync(pageOf('cost'), 'utf8'), 'cost').text.trim() === costs.trim();
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
  if (start < begin.length || end < start) throw new Error(`docs/${PAGES[section]} has no section "${section}".`);
  return { start, end, text: whole.slice(start, end) };
}

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
