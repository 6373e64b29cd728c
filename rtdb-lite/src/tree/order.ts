/** Implements the orders in which the Realtime Database sorts keys and values. */
import { type Branch, nodeAt, splitPath, type Tree, type TreeNode } from './node.ts';

export const firstKey = '[MIN_NAME]';
export const lastKey = '[MAX_NAME]';

/** Returns a key that is a 32-bit integer as a number. Such keys come first, by number: `007` follows `7`. */
function asInteger(key: string): number | undefined {
  if (!/^-?0*\d{1,10}$/.test(key)) return undefined;
  const number = Number(key);
  return number >= -2147483648 && number <= 2147483647 ? number : undefined;
}

export function compareKeys(one: string, other: string): number {
  if (one === other) return 0;
  if (one === firstKey || other === lastKey) return -1;
  if (other === firstKey || one === lastKey) return 1;
  const [first, second] = [asInteger(one), asInteger(other)];
  if (first !== undefined && second !== undefined) return first - second || one.length - other.length;
  if (first !== undefined) return -1;
  if (second !== undefined) return 1;
  return one < other ? -1 : 1;
}

/** Returns the rank of a value's type: missing values, then booleans, numbers, strings, and nodes with children. */
function rank(node: Tree): number {
  if (!node) return 0;
  if (node.children) return 4;
  if (typeof node.value === 'boolean') return 1;
  return typeof node.value === 'number' ? 2 : 3;
}

export function compareValues(one: Tree, other: Tree): number {
  const difference = rank(one) - rank(other);
  const leaves = one && other && !one.children && !other.children;
  if (difference !== 0 || !leaves || one.value === other.value) return difference;
  return one.value < other.value ? -1 : 1;
}

/** Returns the value that orders a child: its `.key`, `.value`, `.priority` or a path in it. */
export function indexed(node: Tree, index: string): Tree {
  if (index === '.key') return null; // Keys are compared by another function.
  if (index === '.value') return node;
  if (index !== '.priority') return nodeAt(node, splitPath(index));
  const priority = node?.priority ?? null;
  return priority === null ? null : { value: priority, priority: null };
}

export function sortedChildren(node: Branch, index: string): [string, TreeNode][] {
  return [...node.children].sort(
    ([key, child], [otherKey, other]) =>
      compareValues(indexed(child, index), indexed(other, index)) || compareKeys(key, otherKey),
  );
}
