/** Compares the results of the ruleset, which traverses the rules itself, with targaryen's results. */
import assert from 'node:assert/strict';
import targaryen from 'targaryen/lib/database/index.js';
import { actingAs } from '../src/caller.ts';
import { Ruleset } from '../src/rules/ruleset.ts';
import { fromJson, toJson } from '../src/tree/json.ts';
import { withNodeAt } from '../src/tree/node.ts';
import { Random } from './support/random.ts';

const rules = {
  rules: {
    a: {
      '.read': 'auth != null',
      '.write': "auth.uid === 'u' && (!data.exists() || newData.val() !== data.val())",
      '.validate': 'newData.isNumber() || newData.hasChildren(["b"])',
      b: { '.validate': 'newData.isString() || newData.parent().child("c").exists()' },
      $k: { '.validate': '$k.length < 3 && root.child("c").exists()' },
    },
    b: {
      $x: {
        '.read': '$x === auth.uid',
        '.write': true,
        '.validate': 'newData.hasChildren()',
        $y: { '.validate': 'newData.isBoolean() || newData.val() > 0' },
      },
    },
    c: { '.write': 'data.parent().child("a").exists() || now > 0', '.read': 'query.limitToLast <= 3' },
  },
};

describe('a ruleset', () => {
  it('agrees with targaryen on 3000 random writes and reads', () => {
    const random = new Random(42);
    const ours = new Ruleset(JSON.stringify(rules));
    let allowed = 0;
    for (let round = 0; round < 3000; round++) {
      const data = random.value(2, false);
      const auth = random.pick([{ user: null }, { user: 'u' }, { user: 'a' }]).user;
      const caller = actingAs(auth === null ? null : { uid: auth, token: {} });
      const path = Array.from({ length: 1 + random.below(3) }, () => random.pick(['a', 'b', 'c', '0', 'k']));
      const written = random.below(2) === 0 ? random.primitive() : random.value(2, false);
      const root = fromJson(data);
      const after = withNodeAt(root, path, fromJson(written));
      const theirs = targaryen.create(rules, toJson(root, true)).as(caller.auth);
      const canWrite = ours.canWrite({ before: root, after }, path, caller);
      if (canWrite) allowed += 1;
      const write = theirs.write(path.join('/'), written).allowed;
      assert.equal(canWrite, write, JSON.stringify({ data, path, written, auth }));
      const read = theirs.read(path.join('/'), { now: Date.now() }).allowed;
      assert.equal(ours.canRead(root, path, caller), read, JSON.stringify({ data, path, auth }));
    }
    assert.ok(allowed > 100 && allowed < 2900, String(allowed));
  });

  for (const source of ['', '{}', '{"rules":1}', '{"rules":{".read":"a b"}}', '{"rules":{".nope":true}}'])
    it(`refuses ${source || 'nothing'}`, () => assert.throws(() => new Ruleset(source)));

  it('refuses two wildcards at one place, or the same wildcard name twice on a path', () => {
    assert.throws(() => new Ruleset('{"rules":{"$a":{},"$b":{}}}'), /multiple default rules/);
    assert.throws(() => new Ruleset('{"rules":{"$a":{"$a":{}}}}'), /twice on a path/);
  });
});
