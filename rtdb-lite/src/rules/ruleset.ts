/** Applies security rules: traverses the tree, and evaluates the rules' expressions with targaryen. */
import targaryenQuery from 'targaryen/lib/database/query.js';
import type { Rule } from 'targaryen/lib/parser/index.js';
import type { Caller } from '../caller.ts';
import { childOf, nodeAt, type Path, splitPath, type Tree } from '../tree/node.ts';
import { indexOf, type Query } from '../tree/query.ts';
import { parseRules, type RuleNode } from './compile.ts';
import { RuleDataSnapshot, type RuleRead } from './snapshot.ts';

type Variables = Record<string, string>;

/** Rules at one level of a path, with the values of the wildcards up to that level. */
interface Step {
  readonly path: Path;
  readonly node: RuleNode;
  readonly variables: Variables;
}

/** Returns the data that the rules of one level can read. */
type StateOf = (step: Step) => object;

/** Data of the whole database before and after a write. */
interface Write {
  readonly before: Tree;
  readonly after: Tree;
}

export class Ruleset {
  readonly source: string;
  readonly json: object;
  readonly #root: RuleNode;

  constructor(source: string) {
    const { json, root } = parseRules(source);
    this.source = source;
    this.json = json;
    this.#root = root;
  }

  canRead(root: Tree, path: Path, caller: Caller, query: Query = {}): boolean {
    return this.readsFor(root, path, caller, query) !== undefined;
  }

  /** Returns the data that allows the caller to read a path; undefined if the rules do not allow it. */
  readsFor(root: Tree, path: Path, caller: Caller, query: Query = {}): readonly RuleRead[] | undefined {
    const reads: RuleRead[] = [];
    if (caller.isOwner) return reads;
    const base = {
      root: new RuleDataSnapshot(root, [], reads),
      auth: caller.auth,
      now: Date.now(),
      query: targaryenQuery.create(constraintsOf(query)),
    };
    const isAllowed = this.#steps(path).some(({ path: at, node, variables }) =>
      holds(node.rules.read, { ...base, ...variables, data: new RuleDataSnapshot(root, at, reads) }),
    );
    return isAllowed ? reads : undefined;
  }

  /** Returns whether the rules allow a write. Validation rules do not apply to removals. */
  canWrite({ before, after }: Write, path: Path, caller: Caller, now = Date.now()): boolean {
    if (caller.isOwner) return true;
    const base = { root: new RuleDataSnapshot(before, []), auth: caller.auth, now };
    const stateOf: StateOf = (step) => ({
      ...base,
      ...step.variables,
      data: new RuleDataSnapshot(before, step.path),
      newData: new RuleDataSnapshot(after, step.path),
    });
    const steps = this.#steps(path);
    if (!steps.some((step) => holds(step.node.rules.write, stateOf(step)))) return false;
    const written = nodeAt(after, path);
    if (written === null) return true;
    if (!steps.every((step) => isValid(step, stateOf))) return false;
    const last = steps.at(-1);
    return last?.path.length !== path.length || childrenAreValid(last, written, stateOf);
  }

  /** Returns whether `.indexOn` covers the query. Queries by key or priority need no index. */
  isIndexed(path: Path, query: Query): boolean {
    const index = indexOf(query);
    if (index === '.key' || index === '.priority') return true;
    const step = this.#steps(path).find((one) => one.path.length === path.length);
    return step?.node.indexOn.some((one) => samePath(one, index)) ?? false;
  }

  /** Returns the levels along the path, from the root to the last level that has rules. */
  #steps(path: Path): Step[] {
    const steps: Step[] = [{ path: [], node: this.#root, variables: {} }];
    for (const key of path) {
      const last = steps.at(-1);
      const next = last && stepInto(last, key);
      if (!next) break;
      steps.push(next);
    }
    return steps;
  }
}

function stepInto({ path, node, variables }: Step, key: string): Step | undefined {
  const named = node.children.get(key);
  if (named) return { path: [...path, key], node: named, variables };
  if (!node.wildcard) return undefined;
  const bound = { ...variables, [node.wildcard.variable]: key };
  return { path: [...path, key], node: node.wildcard.node, variables: bound };
}

function childrenAreValid(step: Step, written: Tree, stateOf: StateOf): boolean {
  return [...(written?.children?.keys() ?? [])].every((key) => {
    const next = stepInto(step, key);
    return !next || (isValid(next, stateOf) && childrenAreValid(next, childOf(written, key), stateOf));
  });
}

function isValid(step: Step, stateOf: StateOf): boolean {
  const rule = step.node.rules.validate;
  return rule === undefined || holds(rule, stateOf(step));
}

/** Evaluates a rule. A runtime error counts as false, as in the Realtime Database. */
function holds(rule: Rule | undefined, state: object): boolean {
  try {
    return rule?.evaluate(state) === true;
  } catch {
    return false;
  }
}

/** Returns the variable `query` of rules, such as `query.orderByChild` and `query.limitToLast`. */
function constraintsOf(query: Query): object {
  const constraints: Record<string, unknown> = orderOf(indexOf(query));
  const isSingleValue = 'sp' in query && 'ep' in query && query.sp === query.ep;
  if (isSingleValue && !('sn' in query) && !('en' in query)) constraints.equalTo = query.sp;
  if ('sp' in query) constraints.startAt = query.sp;
  if ('ep' in query) constraints.endAt = query.ep;
  if (query.l !== undefined) constraints[query.vf === 'r' ? 'limitToLast' : 'limitToFirst'] = query.l;
  return constraints;
}

function orderOf(index: string): Record<string, unknown> {
  if (index === '.key') return { orderByKey: true };
  if (index === '.value') return { orderByValue: true };
  if (index === '.priority') return { orderByPriority: true };
  return { orderByChild: index.replace(/^\//, '') };
}

function samePath(one: string, other: string): boolean {
  return splitPath(one).join('/') === splitPath(other).join('/');
}
