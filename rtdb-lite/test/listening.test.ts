import assert from 'node:assert/strict';
import type { Change, Listener } from '../src/namespace.ts';
import { fromJson } from '../src/tree/json.ts';
import { type Tree, withNodeAt } from '../src/tree/node.ts';
import { type Query, runQuery } from '../src/tree/query.ts';
import { listenerFor } from '../src/websocket/listening.ts';

interface Sent {
  readonly action: string;
  readonly data: unknown;
}

/** Returns the messages that a listener to `/list` receives when its data changes. */
function listening(initial: object, query: Query) {
  const sent: Sent[] = [];
  let root: Tree = fromJson({ list: initial }, null, 0);
  const listener: Listener = listenerFor({
    path: ['list'],
    query,
    tag: 1,
    first: runQuery(fromJson(initial, null, 0), query),
    push: (action, body) => sent.push({ action, data: 'd' in body ? body.d : undefined }),
    caller: () => ({ isOwner: true, auth: null }),
    gone: () => undefined,
  });
  // The trees before and after a write must share unchanged nodes, as in a namespace.
  const write = (path: string[], value: unknown): readonly Sent[] => {
    const before = root;
    root = withNodeAt(root, path, fromJson(value, null, 0));
    const change: Change = { paths: [path], before, after: root };
    listener.changed(change);
    return sent.splice(0);
  };
  write(['list', 'begin'], true);
  return { write };
}

describe('a listener to a query', () => {
  const query: Query = { i: '.key', l: 3, vf: 'l' };

  it('receives only the changed children', () => {
    const { write } = listening({ a: 1, b: { text: 'two' } }, query);
    assert.deepEqual(write(['list', 'b', 'text'], 'second'), [{ action: 'm', data: { b: { text: 'second' } } }]);
    assert.deepEqual(write(['list', 'zz'], 'outside'), []);
  });

  it('receives the children that enter and leave the window of the query', () => {
    const { write } = listening({ a: 1, c: 3 }, query);
    assert.deepEqual(write(['list', 'aa'], 2), [{ action: 'm', data: { c: null, aa: 2 } }]);
    assert.deepEqual(write(['list', 'aa'], null), [{ action: 'm', data: { aa: null, c: 3 } }]);
  });

  it('receives the whole value if the path was empty or becomes empty', () => {
    const { write } = listening({}, { i: '.key', sp: 'x' });
    assert.deepEqual(write(['list', 'x'], 1), [{ action: 'd', data: { x: 1 } }]);
    assert.deepEqual(write(['list', 'x'], null), [{ action: 'd', data: null }]);
  });
});
