/** Adds a table to a TOML text. All bytes outside the table are preserved. */
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { Mistake } from '../mistake.ts';

type Strings = Readonly<Record<string, string>>;

/**
 * Returns the text with an added or replaced table of strings, in the format of `codex mcp add`.
 * @throws Mistake if the text is not TOML, or if it defines the table in another form
 */
export function withTable(text: string, path: readonly string[], fields: Strings): string {
  const program = parsed(text);
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const own = tablesOf(program).filter(({ resolvedKey }) => path.every((key, depth) => resolvedKey[depth] === key));
  const shown = [
    `[${path.join('.')}]`,
    ...Object.entries(fields).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
  ].join(newline);
  const changed = own.length === 0 ? appended(text, shown, newline) : replaced(text, own, shown);
  if (!holds(changed, path, fields))
    throw new Mistake(`"${path.join('.')}" uses a TOML form that this command cannot edit`);
  return changed;
}

function parsed(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: '1.0' });
  } catch (error) {
    if (error instanceof ParseError) throw new Mistake(`line ${error.lineNumber}: ${error.message}`);
    throw error;
  }
}

function tablesOf({ body }: AST.TOMLProgram): AST.TOMLTable[] {
  return body.flatMap((top) => top.body).filter((node) => node.type === 'TOMLTable');
}

function appended(text: string, table: string, newline: string): string {
  const gap = text.trim() === '' ? '' : text.endsWith('\n') ? newline : newline + newline;
  return `${text}${gap}${table}${newline}`;
}

/** Replaces the first of the tables and removes the other tables, which are subtables of the first. */
function replaced(text: string, tables: readonly AST.TOMLTable[], shown: string): string {
  let changed = text;
  for (const [index, { range }] of [...tables.entries()].reverse())
    changed = changed.slice(0, range[0]) + (index === 0 ? shown : '') + changed.slice(range[1]);
  return changed;
}

/** Returns whether the text is valid TOML in which the table has exactly these fields. */
function holds(text: string, path: readonly string[], fields: Strings): boolean {
  try {
    const root: unknown = getStaticTOMLValue(parsed(text));
    const table = path.reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      root,
    );
    return JSON.stringify(table) === JSON.stringify(fields);
  } catch (error) {
    if (error instanceof Mistake) return false;
    throw error;
  }
}
