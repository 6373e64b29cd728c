import { toJson } from '../tree/json.ts';
import { nodeAt, type Path, splitPath, type Tree } from '../tree/node.ts';

/** Data that a rule has read. */
export interface RuleRead {
  readonly path: Path;
  readonly node: Tree;
}

/**
 * The variables `data`, `newData` and `root` of rules. targaryen recognizes the type of an operand by its class name,
 * so this class must keep its name.
 */
export class RuleDataSnapshot {
  readonly #root: Tree;
  readonly #path: Path;
  readonly #reads: RuleRead[];

  /** @param reads list to which each read is added */
  constructor(root: Tree, path: Path, reads: RuleRead[] = []) {
    this.#root = root;
    this.#path = path;
    this.#reads = reads;
  }

  get #node(): Tree {
    const node = nodeAt(this.#root, this.#path);
    this.#reads.push({ path: this.#path, node });
    return node;
  }

  val(): unknown {
    const value = toJson(this.#node);
    return Array.isArray(value) ? { ...value } : value;
  }

  getPriority(): unknown {
    return this.#node?.priority ?? null;
  }

  exists(): boolean {
    return this.#node !== null;
  }

  child(path: unknown): RuleDataSnapshot {
    if (typeof path !== 'string') throw new Error(`${String(path)} should be a string.`);
    return new RuleDataSnapshot(this.#root, [...this.#path, ...splitPath(path)], this.#reads);
  }

  parent(): RuleDataSnapshot {
    if (this.#path.length === 0) throw new Error('No such method/property parent at the root.');
    return new RuleDataSnapshot(this.#root, this.#path.slice(0, -1), this.#reads);
  }

  hasChild(path: unknown): boolean {
    return this.child(path).exists();
  }

  hasChildren(names?: readonly unknown[]): boolean {
    return names ? names.every((name) => this.hasChild(name)) : this.#node?.children !== undefined;
  }

  isNumber(): boolean {
    return typeof this.#node?.value === 'number';
  }

  isString(): boolean {
    return typeof this.#node?.value === 'string';
  }

  isBoolean(): boolean {
    return typeof this.#node?.value === 'boolean';
  }
}
