import assert from 'node:assert/strict';
import { isRecord } from '../e2e/support/clients.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Asserts that a value has every key of the example, and that the value of each key has the same type as in the
 * example. Where the example has a time, a time is required. The value may have additional keys.
 */
export function assertShape(actual: unknown, example: unknown, at = 'answer'): void {
  if (Array.isArray(example)) {
    assert.ok(Array.isArray(actual) && actual.length > 0, `${at} must be a list that is not empty`);
    for (const [index, item] of actual.entries()) assertShape(item, example[0], `${at}.${index}`);
  } else if (isRecord(example)) {
    assert.ok(isRecord(actual), `${at} must be an object`);
    for (const [key, value] of Object.entries(example)) {
      assert.ok(Object.hasOwn(actual, key), `${at} must have ${key}`);
      assertShape(actual[key], value, `${at}.${key}`);
    }
  } else {
    assert.equal(typeof actual, typeof example, `${at} must be a ${typeof example}`);
    assert.equal(actual === null, example === null, `${at} must ${example === null ? '' : 'not '}be null`);
    if (typeof example === 'string' && TIME.test(example)) assert.match(String(actual), TIME, at);
  }
}
