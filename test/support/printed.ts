/** Compares a response with an example in a specification. All fields must match, except times and ids. */
import assert from 'node:assert/strict';
import { type JsonObject, type JsonValue, jsonValue } from '../../functions/src/kernel/json.ts';

/** Placeholders in an example: one for any ISO 8601 time in UTC, and one for any non-empty text. */
export const [TIME, SOME] = ['<a time>', '<some text>'];
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Asserts that a response has exactly the fields and values of the example. Placeholders match any value. */
export function assertPrinted(actual: unknown, printed: JsonValue, at = 'answer'): void {
  if (printed === TIME) assert.match(String(actual), ISO_TIME, at);
  else if (printed === SOME) assert.ok(typeof actual === 'string' && actual !== '', `${at} is ${actual}`);
  else if (Array.isArray(printed)) {
    assert.ok(Array.isArray(actual) && actual.length === printed.length, `${at}: ${JSON.stringify(actual)}`);
    for (const [index, one] of printed.entries()) assertPrinted(actual[index], one, `${at}.${index}`);
  } else if (typeof printed === 'object' && printed !== null) {
    const fields: Readonly<Record<string, unknown>> = Object(actual);
    assert.deepEqual(Object.keys(fields).sort(), Object.keys(printed).sort(), at);
    for (const [name, value] of Object.entries(printed)) assertPrinted(fields[name], value ?? null, `${at}.${name}`);
  } else assert.deepEqual(actual, printed, at);
}

/** A call and its response in a specification. Both may contain values of earlier responses. */
export interface PrintedCall {
  readonly title: string;
  readonly tool: string;
  readonly args: JsonObject | ((known: Known) => JsonObject);
  readonly prints: JsonObject | ((known: Known) => JsonObject);
}

/** Responses of the earlier calls, by the titles of the calls. */
export class Known {
  private readonly answers = new Map<string, JsonValue>();

  keep(title: string, answer: JsonValue): void {
    this.answers.set(title, answer);
  }

  /** Returns the value at a path of an earlier response: `of('add_task', 'task', 'id')`. */
  of(title: string, ...path: readonly string[]): JsonValue {
    let found: unknown = this.answers.get(title);
    for (const name of path) found = Object(found)[name];
    assert.ok(found !== undefined, `the response of ${title} has no ${path.join('.')}`);
    return jsonValue.parse(found);
  }
}

export function spoken(part: PrintedCall['args'], known: Known): JsonObject {
  return typeof part === 'function' ? part(known) : part;
}
