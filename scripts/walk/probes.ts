/**
 * Loaded before everything else, with `--import`: every function of functions/src that is loaded from then on says
 * that it is entered. Types are stripped in place, so lines stay what they are in the source.
 * Source: Node 22, module.registerHooks and module.stripTypeScriptTypes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Function as FunctionNode, type Node, parse } from 'acorn';
import { fullAncestor } from 'acorn-walk';

/** A function of functions/src. */
export interface EnteredFunction {
  /** From the repository's root. */
  readonly file: string;
  readonly name: string;
  readonly line: number;
}

/** What a call has entered so far, each function once, in order. */
export type Walk = Set<EnteredFunction>;

const root = fileURLToPath(new URL('../..', import.meta.url));

const SOURCES = new URL('../../functions/src/', import.meta.url).href;

const functions: EnteredFunction[] = [];

/** Follows a call through whatever it waits for, and leaves out what the instance does beside it. */
const walks = new AsyncLocalStorage<Walk>();

/** Everything that follows from what is running right now belongs to the walk. */
export function beginWalk(): Walk {
  const walk: Walk = new Set();
  walks.enterWith(walk);
  return walk;
}

/** The probe at the beginning of each function. */
export function enter(id: number): void {
  const entered = functions[id];
  if (entered !== undefined) walks.getStore()?.add(entered);
}

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(SOURCES) || !url.endsWith('.ts')) return nextLoad(url, context);
    const path = fileURLToPath(url);
    const code = stripTypeScriptTypes(readFileSync(path, 'utf8'));
    return { format: 'module', source: withProbes(code, relative(root, path)), shortCircuit: true };
  },
});

interface Insertion {
  readonly at: number;
  readonly text: string;
}

function withProbes(code: string, file: string): string {
  const insertions: Insertion[] = [];
  const tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  fullAncestor(tree, (node, _state, ancestors) => {
    if (!isFunction(node)) return;
    const probe = `__enter(${functions.length})`;
    functions.push({ file, name: nameOf(ancestors), line: node.loc?.start.line ?? 0 });
    const { start, end, type } = node.body;
    if (type === 'BlockStatement') insertions.push({ at: start + 1, text: `${probe};` });
    else insertions.push({ at: start, text: `(${probe}, ` }, { at: end, text: ')' });
  });
  const from = JSON.stringify(import.meta.url);
  return `${insertedInto(code, insertions)}\nimport { enter as __enter } from ${from};\n`;
}

function insertedInto(code: string, insertions: readonly Insertion[]): string {
  let result = '';
  let copied = 0;
  for (const { at, text } of insertions.toSorted((one, other) => one.at - other.at)) {
    result += code.slice(copied, at) + text;
    copied = at;
  }
  return result + code.slice(copied);
}

function isFunction(node: Node): node is FunctionNode {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);
}

/** The name that the source gives a function, or that of the function or value of which it is a part. */
function nameOf(ancestors: readonly Node[]): string {
  const names: string[] = [];
  for (const node of ancestors.toReversed()) {
    const name = ownName(node);
    if (name === undefined) continue;
    names.unshift(name);
    // A method is named with its class, anything else by itself.
    if (node.type !== 'MethodDefinition' && node.type !== 'PropertyDefinition') break;
  }
  return names.join('.') || '(anonymous)';
}

function ownName(node: Node): string | undefined {
  for (const part of ['id', 'key']) {
    const named: unknown = Reflect.get(node, part);
    if (typeof named === 'object' && named !== null && 'name' in named) return String(named.name);
  }
  return undefined;
}
