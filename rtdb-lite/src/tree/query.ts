import { fromJson } from './json.ts';
import type { Tree } from './node.ts';
import { compareKeys, compareValues, firstKey, indexed, lastKey, sortedChildren } from './order.ts';

/** Query. Its fields have the names of the wire protocol. */
export interface Query {
  /** Start of the range: its value, its key, and whether the start is included. */
  sp?: unknown;
  sn?: string;
  sin?: boolean;
  /** End of the range: its value, its key, and whether the end is included. */
  ep?: unknown;
  en?: string;
  ein?: boolean;
  /** Maximum number of children, and the side from which they are counted: `l` or `r`. */
  l?: number;
  vf?: string;
  /** Index: `.key`, `.value`, `.priority` or a path. */
  i?: string;
}

export function indexOf(query: Query): string {
  return query.i ?? '.priority';
}

/** Returns a node with only the children that the query selects. */
export function runQuery(node: Tree, query: Query): Tree {
  if (!node?.children) return null;
  const compare = comparison(indexOf(query));
  const selected = sortedChildren(node, indexOf(query)).filter(([key, child]) => {
    if ('sp' in query) {
      const difference = compare(key, child, query.sp, query.sn ?? firstKey);
      if (difference < 0 || (difference === 0 && query.sin === false)) return false;
    }
    if (!('ep' in query)) return true;
    const difference = compare(key, child, query.ep, query.en ?? lastKey);
    return difference < 0 || (difference === 0 && query.ein !== false);
  });
  const limited = query.l === undefined ? selected : window(selected, query.l, query.vf);
  return limited.length > 0 ? { children: new Map(limited), priority: node.priority } : null;
}

type Comparison = (key: string, child: Tree, bound: unknown, boundKey: string) => number;

/** Returns a function that compares a child with a bound of a query by this index. */
function comparison(index: string): Comparison {
  if (index === '.key') return (key, _child, bound) => compareKeys(key, String(bound));
  return (key, child, bound, boundKey) =>
    compareValues(indexed(child, index), fromJson(bound)) || compareKeys(key, boundKey);
}

function window<Entry>(entries: Entry[], limit: number, side: string | undefined): Entry[] {
  return side === 'r' ? entries.slice(-limit) : entries.slice(0, limit);
}
