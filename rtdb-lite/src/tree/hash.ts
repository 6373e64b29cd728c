import { createHash } from 'node:crypto';
import type { Primitive, Tree, TreeNode } from './node.ts';
import { sortedChildren } from './order.ts';

const known = new WeakMap<TreeNode, string>();

/** Returns the hash that the SDKs compute of a value. With it, a transaction identifies the data that it has read. */
export function nodeHash(node: Tree): string {
  if (!node) return '';
  const cached = known.get(node);
  if (cached !== undefined) return cached;
  const hash = createHash('sha1').update(hashedText(node)).digest('base64');
  known.set(node, hash);
  return hash;
}

function hashedText(node: TreeNode): string {
  const priority = node.priority === null ? '' : `priority:${typed(node.priority)}:`;
  if (!node.children) return priority + typed(node.value);
  const children = sortedChildren(node, '.priority').map(([key, child]) => `:${key}:${nodeHash(child)}`);
  return priority + children.join('');
}

function typed(value: Primitive): string {
  return `${typeof value}:${typeof value === 'number' ? ieee754(value) : value}`;
}

function ieee754(number: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(number);
  return bytes.toString('hex');
}
