/** Division of a coding task's log into stored chunks. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { LogHead } from '../../../functions/src/toolsets/coding/rules/log.ts';
import {
  appendNote,
  appendNumbered,
  CHUNK_LINES,
  FIRST_CHUNKS,
  LATEST_CHUNKS,
  parseLines,
} from '../../../functions/src/toolsets/coding/rules/log.ts';
import { defaultBranch } from '../../../functions/src/toolsets/coding/rules/task.ts';
import { START } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';

const entryOf = (sequence: number, message = 'x') =>
  ({ sequence, at: START, level: 'info', type: 'output', message }) as const;

const fill = (from: number, count: number) => Array.from({ length: count }, (_, index) => entryOf(from + index));

describe("stored chunks of a coding task's log", () => {
  it('contain every line once and in order, even if a runner sends lines again', () => {
    const batches = fc.array(fc.record({ from: fc.nat(300), count: fc.integer({ min: 0, max: 400 }) }), {
      maxLength: 12,
    });
    forAll(batches, (sent) => {
      const kept: number[] = [];
      let head: LogHead | undefined;
      let last = -1;
      for (const { from, count } of sent) {
        const expected = fill(from, count).filter(({ sequence }) => sequence > last);
        const { writes, accepted, next } = appendNumbered(head, 1, fill(from, count));
        assert.equal(accepted, expected.length);
        for (const write of writes) {
          assert.equal(write.from, kept.length);
          assert.ok(write.head.lines <= CHUNK_LINES);
          kept.push(...parseLines(write.text, write.from).map(({ line }) => line));
          head = write.head;
        }
        assert.equal(next, kept.length);
        last = Math.max(last, expected.at(-1)?.sequence ?? last);
      }
      assert.deepEqual(kept, [...kept.keys()]);
    });
  });

  it('are deleted, oldest first, when a new chunk exceeds the limit; the first few are kept', () => {
    const dropped: number[] = [];
    let head: LogHead | undefined;
    const chunks = FIRST_CHUNKS + LATEST_CHUNKS + 3;
    for (let chunk = 0; chunk < chunks; chunk++) {
      const { writes } = appendNumbered(head, 1, fill(chunk * CHUNK_LINES, CHUNK_LINES));
      assert.equal(writes.length, 1);
      head = writes[0]?.head;
      dropped.push(...writes.flatMap(({ drops }) => drops ?? []));
    }
    assert.deepEqual(dropped, [FIRST_CHUNKS, FIRST_CHUNKS + 1, FIRST_CHUNKS + 2]);
    assert.equal(head?.first_line, (chunks - 1) * CHUNK_LINES);
  });

  it('number the lines of each attempt from zero, and accept notes between lines', () => {
    const first = appendNumbered(undefined, 1, fill(0, 3)).writes[0]?.head;
    const noted = appendNote(first, entryOf(0, 'a note')).writes[0]?.head;
    assert.equal(appendNumbered(noted, 1, fill(0, 3)).accepted, 0);
    assert.equal(appendNumbered(noted, 2, fill(0, 3)).accepted, 3);
  });
});

describe('default branch name of a coding task', () => {
  for (const [description, branch] of [
    ['Add authentication to the app', 'task/kl2mnopq-add-authentication-to-the-app'],
    ['  Ünïcode & more!  ', 'task/kl2mnopq-unicode-more'],
    ['日本語', 'task/kl2mnopq'],
    ['x'.repeat(100), `task/kl2mnopq-${'x'.repeat(40)}`],
  ] as const)
    it(`for the description "${description.slice(0, 30)}" is ${branch.slice(0, 40)}`, () =>
      assert.equal(defaultBranch('task-0s6smwakl2mnopq-001', description), branch));
});
