import assert from 'node:assert/strict';
import { isRecord } from '../e2e/support/clients.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Asserts that a value has every key of the example, with a value of equal type, and a time if the example has one.
 * The value may have more keys, and other values.
 */
export function assertShape(actual: unknown, example: unknown, at = 'answer'): void {
  if (Array.isArray(example)) {
    assert.ok(Array.isArray(actual) && actual.length > 0, `${at} is a list with something in it`);
    for (const [index, item] of actual.entries()) assertShape(item, example[0], `${at}.${index}`);
  } else if (isRecord(example)) {
    assert.ok(isRecord(actual), `${at} is an object`);
    for (const [key, value] of Object.entries(example)) {
      assert.ok(Object.hasOwn(actual, key), `${at} has ${key}`);
      assertShape(actual[key], value, `${at}.${key}`);
    }
  } else {
    assert.equal(typeof actual, typeof example, `${at} is a ${typeof example}`);
    assert.equal(actual === null, example === null, `${at} is ${example === null ? '' : 'not '}null`);
    if (typeof example === 'string' && TIME.test(example)) assert.match(String(actual), TIME, at);
  }
}
