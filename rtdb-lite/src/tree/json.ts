/** Converts between tree and JSON, with priorities, server values, and arrays for numbered children. */
import { nodeHash } from './hash.ts';
import { BadData, childOf, isKey, maxDepth, type Primitive, type Priority, type Tree, type TreeNode } from './node.ts';
import { compareKeys } from './order.ts';

const unparsable = "Invalid data; couldn't parse JSON object, array, or value.";

export function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null;
}

function isPrimitive(json: unknown): json is Primitive {
  return typeof json === 'string' || typeof json === 'boolean' || typeof json === 'number';
}

/** `previous` is the value to which an increment adds a number. */
export function fromJson(json: unknown, previous: Tree = null, now = Date.now(), depth = 0): Tree {
  if (json === null || json === undefined) return null;
  if (depth > maxDepth) throw new BadData('Invalid data; data is nested too deeply');
  if (isPrimitive(json)) return { value: finite(json), priority: null };
  if (!isRecord(json)) throw new BadData(unparsable);
  const priority = priorityFrom(json['.priority'], now);
  if ('.sv' in json) return { value: serverValue(json['.sv'], previous, now), priority };
  if (!('.value' in json)) {
    const children = childrenFrom(json, previous, now, depth);
    return children.size > 0 ? { children, priority } : null;
  }
  const leaf = fromJson(json['.value'], previous, now, depth + 1);
  if (leaf?.children) throw new BadData('Invalid data; .value must be a primitive');
  return leaf && { ...leaf, priority };
}

function finite(value: Primitive): Primitive {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new BadData('Invalid data; numbers must be finite');
  return value;
}

function childrenFrom(
  json: Record<string, unknown>,
  previous: Tree,
  now: number,
  depth: number,
): Map<string, TreeNode> {
  const children = new Map<string, TreeNode>();
  for (const [key, value] of Object.entries(json)) {
    if (key === '.priority') continue;
    if (!isKey(key)) throw new BadData(`${unparsable} Invalid key "${key}"`);
    const child = fromJson(value, childOf(previous, key), now, depth + 1);
    if (child) children.set(key, child);
  }
  return children;
}

export function priorityFrom(json: unknown, now: number): Priority {
  if (json === undefined || json === null) return null;
  if (typeof json === 'string' || typeof json === 'number') return json;
  const computed = isRecord(json) && '.sv' in json ? serverValue(json['.sv'], null, now) : undefined;
  if (typeof computed !== 'number') throw new BadData('Invalid data; invalid priority');
  return computed;
}

function serverValue(sv: unknown, previous: Tree, now: number): number {
  if (sv === 'timestamp') return now;
  const increment = isRecord(sv) ? sv.increment : undefined;
  if (typeof increment !== 'number') throw new BadData('Invalid data; unknown server value');
  return (typeof previous?.value === 'number' ? previous.value : 0) + increment;
}

/** `withPriorities` adds the priorities, as in the wire protocol and in `format=export`. */
export function toJson(node: Tree, withPriorities = false): unknown {
  if (!node) return null;
  const priority = withPriorities ? node.priority : null;
  if (!node.children) return priority === null ? node.value : { '.priority': priority, '.value': node.value };
  const keys = [...node.children.keys()].sort(compareKeys);
  const length = priority === null ? arrayLength(keys) : undefined;
  if (length !== undefined)
    return Array.from({ length }, (_, index) => toJson(childOf(node, String(index)), withPriorities));
  const entries = keys.map((key) => [key, toJson(childOf(node, key), withPriorities)] as const);
  const json: Record<string, unknown> = Object.fromEntries(entries);
  if (priority !== null) json['.priority'] = priority;
  return json;
}

/** Returns the length of the array that sorted keys form; undefined if at least half of the array would be empty. */
function arrayLength(keys: readonly string[]): number | undefined {
  if (!keys.every((key) => /^(0|[1-9]\d{0,8})$/.test(key))) return undefined;
  const highest = Number(keys.at(-1));
  return highest < 2 * keys.length ? highest + 1 : undefined;
}

/** Returns the `delta` of a trigger's event. Merged into the old data, it gives the new data. */
export function delta(before: Tree, after: Tree): unknown {
  if (!before?.children || !after?.children) return toJson(after);
  const keys = new Set([...before.children.keys(), ...after.children.keys()]);
  const changed = [...keys]
    .map((key) => [key, childOf(before, key), childOf(after, key)] as const)
    .filter(([, one, other]) => one !== other && nodeHash(one) !== nodeHash(other));
  return Object.fromEntries(changed.map(([key, one, other]) => [key, delta(one, other)]));
}
