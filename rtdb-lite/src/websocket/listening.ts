/** Determines the messages that are sent to a client's listener when data changes. */
import type { Caller } from '../caller.ts';
import type { Change, Listener } from '../namespace.ts';
import { nodeHash } from '../tree/hash.ts';
import { toJson } from '../tree/json.ts';
import { isUnder, nodeAt, type Path, type Tree } from '../tree/node.ts';
import { type Query, runQuery } from '../tree/query.ts';

/** Sends a server message: `d` for data, `m` for a merge, `c` for a cancelled listener. */
export type Push = (action: 'd' | 'm' | 'c', body: object) => void;

export interface Listening {
  readonly path: Path;
  readonly query: Query | null;
  readonly tag: number | undefined;
  readonly first: Tree;
  readonly push: Push;
  readonly caller: () => Caller;
  readonly gone: () => void;
}

export function listenerFor(listening: Listening): Listener {
  const { path, query, push, caller, gone } = listening;
  return {
    path,
    query,
    caller,
    changed: query ? queryChanges(listening, query) : (change) => pushChange(path, change, push),
    revoked() {
      gone();
      push('c', { p: path.join('/'), ...(query && { q: [query] }) });
    },
  };
}

/** Returns a function that sends the changed children of a query. */
function queryChanges({ path, tag, first, push }: Listening, query: Query): (change: Change) => void {
  let last = first;
  return ({ after }) => {
    const before = last;
    last = runQuery(nodeAt(after, path), query);
    const body = { p: path.join('/'), t: tag };
    if (!before?.children || !last?.children || before.priority !== last.priority) {
      if (nodeHash(before) !== nodeHash(last)) push('d', { ...body, d: toJson(last, true) });
      return;
    }
    const different = differentChildren(before.children, last.children);
    if (different.length > 0) push('m', { ...body, d: Object.fromEntries(different) });
  };
}

type Children = NonNullable<NonNullable<Tree>['children']>;

/** Returns the changed children. Nodes are immutable, so a node that is the same object has no changes. */
function differentChildren(before: Children, after: Children): (readonly [string, unknown])[] {
  const gone = [...before.keys()].filter((key) => !after.has(key)).map((key) => [key, null] as const);
  const present = [...after].filter(([key, child]) => before.get(key) !== child);
  return [...gone, ...present.map(([key, child]) => [key, toJson(child, true)] as const)];
}

/** Sends the smallest update: the data that was written below the path, or else the whole value. */
function pushChange(path: Path, { paths, after }: Change, push: Push): void {
  const [only] = paths;
  if (only && paths.length === 1 && isUnder(only, path)) {
    push('d', { p: only.join('/'), d: toJson(nodeAt(after, only), true) });
  } else if (paths.every((one) => one.length > path.length && isUnder(one, path))) {
    const entries = paths.map((one) => [one.slice(path.length).join('/'), toJson(nodeAt(after, one), true)]);
    push('m', { p: path.join('/'), d: Object.fromEntries(entries) });
  } else {
    push('d', { p: path.join('/'), d: toJson(nodeAt(after, path), true) });
  }
}
