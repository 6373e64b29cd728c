/** Holds an answer against one that a specification prints: every field, with times and ids of its own. */
import assert from 'node:assert/strict';
import { type JsonObject, type JsonValue, jsonValue } from '../../functions/src/kernel/json.ts';

/** In a printed answer: any time of ISO 8601 in UTC, any text that is not empty, and all that follows from the call. */
export const [TIME, SOME] = ['<a time>', '<some text>'];

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Exactly what is printed: no field is missing, and there is no other. */
export function assertPrinted(actual: unknown, printed: JsonValue, at = 'answer'): void {
  if (printed === TIME) assert.match(String(actual), ISO_TIME, at);
  else if (printed === SOME) assert.ok(typeof actual === 'string' && actual !== '', `${at} is ${actual}`);
  else if (Array.isArray(printed)) {
    assert.ok(Array.isArray(actual) && actual.length === printed.length, `${at}: ${JSON.stringify(actual)}`);
    for (const [index, one] of printed.entries()) assertPrinted(actual[index], one, `${at}.${index}`);
  } else if (typeof printed === 'object' && printed !== null) {
    const fields: Readonly<Record<string, unknown>> = Object(actual);
    assert.deepEqual(Object.keys(fields).sort(), Object.keys(printed).sort(), at);
    for (const [name, value] of Object.entries(printed))
      assertPrinted(fields[name], value ?? null, `${at}.${name}`);
  } else assert.deepEqual(actual, printed, at);
}

/** A call with its answer; both may speak of what earlier calls have answered. */
export interface PrintedCall {
  readonly title: string;
  readonly tool: string;
  readonly args: JsonObject | ((known: Known) => JsonObject);
  readonly prints: JsonObject | ((known: Known) => JsonObject);
}

/** The answers so far, by the titles of their calls. */
export class Known {
  private readonly answers = new Map<string, JsonValue>();

  keep(title: string, answer: JsonValue): void {
    this.answers.set(title, answer);
  }

  /** What stands at a path of an answer: `of('add_task', 'task', 'id')`. */
  of(title: string, ...path: readonly string[]): JsonValue {
    let found: unknown = this.answers.get(title);
    for (const name of path) found = Object(found)[name];
    assert.ok(found !== undefined, `${title} has not answered ${path.join('.')}`);
    return jsonValue.parse(found);
  }
}

export function spoken(part: PrintedCall['args'], known: Known): JsonObject {
  return typeof part === 'function' ? part(known) : part;
}
