/** How a walk is printed. */
import type { EnteredFunction } from './probes.ts';

interface Visit {
  /** Counts the files in the order in which they were first entered. */
  readonly number: number;
  readonly file: string;
  readonly functions: { readonly name: string; readonly line: number }[];
}

/** One visit a file, and another where the call comes back to functions of it that it had not entered. */
export function listed(walk: Iterable<EnteredFunction>) {
  const numbers = new Map<string, number>();
  const named = new Set<string>();
  const visits: Visit[] = [];
  for (const { file, name, line } of walk) {
    const isNew = !named.has(`${file} ${name}`);
    if (!isNew) continue; // a function within one that is listed
    named.add(`${file} ${name}`);
    const number = numbers.get(file) ?? numbers.size + 1;
    numbers.set(file, number);
    const last = visits.at(-1);
    if (last?.file === file) last.functions.push({ name, line });
    else visits.push({ number, file, functions: [{ name, line }] });
  }
  const digits = String(numbers.size).length;
  const lines = visits.map(({ number, file, functions }) => {
    const entered = functions.map(({ name, line }) => `${name}:${line}`).join('  ');
    return `${String(number).padStart(digits)} ${file}  ${entered}`;
  });
  const files = [...numbers.keys()];
  return { data: { files, visits }, text: `${lines.join('\n')}\n\n${files.length} files of functions/src` };
}
