/** A listener over the wire: what it is told when the data changes. */
import type { Caller } from '../caller.ts';
import type { Change, Listener } from '../namespace.ts';
import { nodeHash } from '../tree/hash.ts';
import { toJson } from '../tree/json.ts';
import { isUnder, nodeAt, type Path, type Tree } from '../tree/node.ts';
import { type Query, runQuery } from '../tree/query.ts';

/** Sends one of the server's own messages: `d` data, `m` merge, `c` cancelled. */
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

/** The whole result of the query again, whenever it is another. */
function queryChanges({ path, tag, first, push }: Listening, query: Query): (change: Change) => void {
  let last = nodeHash(first);
  return ({ after }) => {
    const result = runQuery(nodeAt(after, path), query);
    const hash = nodeHash(result);
    if (hash === last) return;
    last = hash;
    push('d', { p: path.join('/'), d: toJson(result, true), t: tag });
  };
}

/** As little as possible: what was written below the path, else all of it. */
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
