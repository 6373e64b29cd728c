/** Adds a table to a TOML text. All bytes outside the table are preserved. */
import { isDeepStrictEqual } from 'node:util';
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { Mistake } from '../mistake.ts';

type Strings = Readonly<Record<string, string>>;

/**
 * Returns whether the text has a value at a path.
 * @throws Mistake if the text is not TOML
 */
export function hasTable(text: string, path: readonly string[]): boolean {
  return split(text, path).value !== undefined;
}

/**
 * Returns the text with an added or replaced table of strings, in the format of `codex mcp add`. If the table already
 * has these fields, the text is returned unchanged.
 * @throws Mistake if the text is not TOML, or if it defines the table in another form
 */
export function withTable(text: string, path: readonly string[], fields: Strings): string {
  const before = split(text, path);
  if (isDeepStrictEqual(before.value, fields)) return text;
  const program = parsed(text);
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const own = tablesOf(program).filter(({ resolvedKey }) => path.every((key, depth) => resolvedKey[depth] === key));
  const shown = tableText(path, fields).join(newline);
  const changed = own.length === 0 ? appended(text, shown, newline) : replaced(text, own, shown);
  if (!isChangedTo(changed, path, { ...before, value: fields }))
    throw new Mistake(`"${path.join('.')}" uses a TOML form that this command cannot edit`);
  return changed;
}

/** Returns the lines of a table. A JSON string is a valid TOML string. */
export function tableText(path: readonly string[], fields: Strings): readonly string[] {
  return [`[${path.join('.')}]`, ...Object.entries(fields).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)];
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

interface Split {
  readonly value: unknown;
  /** All values of the text except the one at the path. */
  readonly rest: unknown;
}

/** @throws Mistake if the text is not TOML */
function split(text: string, path: readonly string[]): Split {
  const root: unknown = getStaticTOMLValue(parsed(text));
  const parents = path.slice(0, -1);
  const last = path.at(-1) ?? '';
  const parent = parents.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
  if (!isRecord(parent)) return { value: undefined, rest: root };
  const { [last]: value, ...others } = parent;
  for (const key of Object.keys(parent)) delete parent[key];
  Object.assign(parent, others);
  return { value, rest: root };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns whether the text is valid TOML with exactly these values. A missing parent equals an empty one. */
function isChangedTo(text: string, path: readonly string[], wanted: Split): boolean {
  try {
    const { value, rest } = split(text, path);
    return isDeepStrictEqual(value, wanted.value) && isDeepStrictEqual(rest, withParents(wanted.rest, path));
  } catch (error) {
    if (error instanceof Mistake) return false;
    throw error;
  }
}

/** Adds the missing tables on a path, except the last one. */
function withParents(root: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || rest.length === 0 || !isRecord(root)) return root;
  return { ...root, [key]: withParents(root[key] ?? {}, rest) };
}
