/** Represents data as an immutable tree. Versions of the tree share unchanged nodes. */

export type Primitive = string | number | boolean;
export type Priority = string | number | null;

export interface Leaf {
  readonly value: Primitive;
  readonly children?: undefined;
  readonly priority: Priority;
}

/** Node with children. It is never empty, because a node without children does not exist. */
export interface Branch {
  readonly value?: undefined;
  readonly children: ReadonlyMap<string, TreeNode>;
  readonly priority: Priority;
}

export type TreeNode = Leaf | Branch;

/** `null` if the node does not exist. */
export type Tree = TreeNode | null;
export type Path = readonly string[];

/** Thrown for data or a path that the database rejects from every caller. */
export class BadData extends Error {}

export const maxDepth = 32;
const maxKeyBytes = 768;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the service refuses exactly these in a key
const forbiddenInKeys = /[.#$[\]/\u0000-\u001f\u007f]/;

export function isKey(key: string): boolean {
  return key !== '' && !forbiddenInKeys.test(key);
}

export function splitPath(path: string): string[] {
  return path.split('/').filter(Boolean);
}

export function checkedPath(path: Path): Path {
  if (path.some((key) => !isKey(key) || Buffer.byteLength(key) > maxKeyBytes))
    throw new BadData('Invalid path: Invalid token in path');
  if (path.length > maxDepth) throw new BadData('Invalid path: Path is too deep');
  return path;
}

export function isUnder(path: Path, base: Path): boolean {
  return path.length >= base.length && base.every((key, index) => path[index] === key);
}

export function childOf(node: Tree, key: string): Tree {
  return node?.children?.get(key) ?? null;
}

export function nodeAt(root: Tree, path: Path): Tree {
  return path.reduce(childOf, root);
}

/** Returns the tree with a new value at the path. */
export function withNodeAt(root: Tree, path: Path, value: Tree): Tree {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const old = childOf(root, key);
  const child = withNodeAt(old, rest, value);
  if (child === old) return root;
  const children = new Map(root?.children ?? []);
  if (child) children.set(key, child);
  else children.delete(key);
  return children.size > 0 ? { children, priority: root?.priority ?? null } : null;
}

export function withPriorityAt(root: Tree, path: Path, priority: Priority): Tree {
  const node = nodeAt(root, path);
  return node ? withNodeAt(root, path, { ...node, priority }) : root;
}
