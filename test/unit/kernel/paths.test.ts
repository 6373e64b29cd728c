/** A database path that contains hostile parts either has the expected depth or cannot be created. */
import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import * as firestore from '../../../functions/src/kernel/firestore/paths.ts';
import * as realtime from '../../../functions/src/kernel/realtime/database.ts';

type MakesPath = (...parts: string[]) => string;

const HOSTILE = ['a/b', '/', 'task-1/', '../x', '.', '..', '__x__', '____', 'x'.repeat(2000), '\ud800', 'a/../b'];

/** Values with a character that keys of the Realtime Database must not contain. */
const NO_KEYS = ['a.b', 'a#b', 'a$b', 'a[b]', 'a\u0000b', 'a\u007f'];

/** Path functions whose arguments are a date and numbers instead of ids. */
const OTHERS: readonly string[] = ['minuteMetricsPath', 'dayMetricsPath', 'taskLogChunkPath'];

function makers(module: object): [string, MakesPath][] {
  return Object.entries(module).filter(
    ([name, value]) => name.endsWith('Path') && typeof value === 'function' && !OTHERS.includes(name),
  );
}

function check(make: MakesPath, hostile: readonly string[], reserved: RegExp): void {
  const standard = Array.from({ length: make.length }, () => 'some-1');
  const segments = make(...standard).split('/').length;
  for (const [at] of standard.entries())
    for (const part of hostile) {
      try {
        const path = make(...standard.with(at, part));
        const shown = JSON.stringify(part.slice(0, 20));
        assert.equal(path.split('/').length, segments, `${shown} became ${path.slice(0, 100)}`);
        for (const segment of path.split('/')) assert.doesNotMatch(segment, reserved, path);
        assert.ok(path.length < 1600 && !/\p{Cs}/u.test(path), shown);
      } catch (error) {
        assert.ok(error instanceof MusterError && error.code === 'NOT_FOUND', String(error));
      }
    }
}

describe('database path', () => {
  for (const [name, make] of makers(firestore))
    it(`of Firestore has a fixed depth for any argument: ${name}`, () => check(make, HOSTILE, /^(?:\.\.?|__.*__|)$/));

  for (const [name, make] of makers(realtime))
    it(`of the Realtime Database has a fixed depth for any argument: ${name}`, () =>
      check(make, [...HOSTILE, ...NO_KEYS], /^(?:\.\.?|)$/));

  it('of the Realtime Database contains no forbidden character', () => {
    for (const [name, make] of makers(realtime))
      for (const part of NO_KEYS) {
        try {
          const path = make(...Array.from({ length: make.length }, () => part));
          assert.doesNotMatch(path, /[.#$[\]\p{Cc}]/u, name);
        } catch (error) {
          assert.ok(error instanceof MusterError && error.code === 'NOT_FOUND', String(error));
        }
      }
  });
});
