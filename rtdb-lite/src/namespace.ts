/** Represents one database with its data, rules and listeners. */
import type { Caller } from './caller.ts';
import { Ruleset } from './rules/ruleset.ts';
import type { RuleRead } from './rules/snapshot.ts';
import { nodeHash } from './tree/hash.ts';
import { fromJson, priorityFrom } from './tree/json.ts';
import { checkedPath, nodeAt, type Path, type Tree, withNodeAt, withPriorityAt } from './tree/node.ts';
import { type Query, runQuery } from './tree/query.ts';
import type { Triggers } from './triggers.ts';

const openRules = '{"rules":{".read":true,".write":true}}';

export interface Write {
  readonly path: Path;
  readonly value: unknown;
}

export interface Change {
  readonly paths: readonly Path[];
  readonly before: Tree;
  readonly after: Tree;
}

export interface Listener {
  readonly path: Path;
  readonly query: Query | null;
  caller(): Caller;
  changed(change: Change): void;
  revoked(): void;
}

export interface WriteOptions {
  /** Hash of the data that the transaction has read. If the current data differs, the write is refused. */
  readonly expected?: string | undefined;
  /** Whether the write is only checked and not applied. */
  readonly dry?: boolean;
  readonly triggers?: boolean;
}

export class Denied extends Error {
  constructor() {
    super('Permission denied');
  }
}

/** Thrown if the data has changed since the transaction read it. */
export class Stale extends Error {}

export class Namespace {
  readonly name: string;
  readonly listeners = new Set<Listener>();
  #root: Tree = null;
  #rules = new Ruleset(openRules);
  readonly #triggers: Triggers;
  /** Data that allows each listener to read. While this data is unchanged, the rules need not be evaluated. */
  #allowing = new WeakMap<Listener, readonly RuleRead[]>();

  constructor(name: string, triggers: Triggers) {
    this.name = name;
    this.#triggers = triggers;
  }

  get root(): Tree {
    return this.#root;
  }

  get rules(): Ruleset {
    return this.#rules;
  }

  set rules(rules: Ruleset) {
    this.#rules = rules;
    this.revokeForbidden();
  }

  read(path: Path, caller: Caller, query: Query | null = null): Tree {
    if (!this.#rules.canRead(this.#root, path, caller, query ?? {})) throw new Denied();
    const node = nodeAt(this.#root, path);
    return query ? runQuery(node, query) : node;
  }

  /** Applies all writes if the rules allow them, or none. */
  write(writes: readonly Write[], caller: Caller, options: WriteOptions = {}): void {
    const now = Date.now();
    const before = this.#root;
    const { after, paths } = applied(before, writes, now);
    const { expected } = options;
    const isStale = expected !== undefined && paths.some((path) => nodeHash(nodeAt(before, path)) !== expected);
    // A client that can read the path gets the current value and retries. Other clients get only the denial.
    if (isStale && paths.every((path) => this.#rules.canRead(before, path, caller))) throw new Stale();
    if (!paths.every((path) => this.#rules.canWrite({ before, after }, path, caller, now))) throw new Denied();
    if (isStale) throw new Stale();
    if (options.dry) return;
    this.#root = after;
    this.#announce({ paths, before, after });
    if (options.triggers !== false) this.#triggers.fire(this.name, before, after, caller);
  }

  /** Removes the listeners whose reads are no longer allowed, after a change of the rules or of a caller. */
  revokeForbidden(): void {
    this.#allowing = new WeakMap();
    this.#revokeAffected();
  }

  #revokeAffected(): void {
    for (const listener of [...this.listeners]) {
      const { path, query } = listener;
      if (this.#allowing.get(listener)?.every((read) => nodeAt(this.#root, read.path) === read.node)) continue;
      const reads = this.#rules.readsFor(this.#root, path, listener.caller(), query ?? {});
      if (reads !== undefined) this.#allowing.set(listener, reads);
      else {
        this.listeners.delete(listener);
        listener.revoked();
      }
    }
  }

  #announce(change: Change): void {
    this.#revokeAffected();
    for (const listener of [...this.listeners])
      if (nodeAt(change.before, listener.path) !== nodeAt(change.after, listener.path)) listener.changed(change);
  }
}

function applied(before: Tree, writes: readonly Write[], now: number): { after: Tree; paths: Path[] } {
  let after = before;
  const paths: Path[] = [];
  for (const { path, value } of writes) {
    const isPriority = path.at(-1) === '.priority';
    const at = checkedPath(isPriority ? path.slice(0, -1) : path);
    after = isPriority
      ? withPriorityAt(after, at, priorityFrom(value, now))
      : withNodeAt(after, at, fromJson(value, nodeAt(before, at), now));
    paths.push(at);
  }
  return { after, paths };
}
