/** Arguments as clients wrap them mean the same to every tool as the arguments themselves. */
import assert from 'node:assert/strict';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import type { Tool } from '../../functions/src/mcp/tool.ts';
import type { Schema } from './agreement.ts';
import { entries } from './catalogue.ts';

/** One step into a value: a member's name, or the index of an entry. */
type Step = string | number;

/** An argument, a member of one or an entry of one. */
interface Place {
  readonly path: readonly Step[];
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly given: unknown;
}

const NAME = 'name';

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

const schemaOf = (value: unknown): Schema => recordOf(value) as Schema;

/** A value of a schema's type, whether or not the tool accepts it. */
function sampleOf(schema: Schema): unknown {
  const [first] = Array.isArray(schema['enum']) ? schema['enum'] : [];
  if (first !== undefined) return first;
  switch (schema['type']) {
    case 'array':
      return [sampleOf(schemaOf(schema['items']))];
    case 'object': {
      const properties = Object.entries(recordOf(schema['properties']));
      const sampled = properties.map(([name, of]) => [name, sampleOf(schemaOf(of))]);
      return sampled.length > 0
        ? Object.fromEntries(sampled)
        : { [NAME]: sampleOf(schemaOf(schema['additionalProperties'])) };
    }
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 1;
    default:
      return schema['format'] === 'date-time' ? '2027-02-11T17:00:00Z' : 'x';
  }
}

/** Every place within a value whose schema says what it is, from the outside to the inside. */
function placesIn(schema: Schema, given: unknown, path: readonly Step[] = []): Place[] {
  if (Array.isArray(given)) {
    const items = schemaOf(schema['items']);
    return given.flatMap((one, index) => {
      const own = [...path, index];
      return [{ path: own, schema: items, isRequired: true, given: one }, ...placesIn(items, one, own)];
    });
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(recordOf(schema['properties'])).flatMap(([name, of]) => {
    const member = schemaOf(of);
    const value = recordOf(given)[name];
    const own = [...path, name];
    const place = { path: own, schema: member, isRequired: required.includes(name), given: value };
    return value === undefined ? [place] : [place, ...placesIn(member, value, own)];
  });
}

/** The value with another one at a path; undefined removes what is there. */
function withAt(base: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(base)) return base.map((one, at) => (at === step ? withAt(one, rest, value) : one));
  const fields = recordOf(base);
  const next = withAt(fields[step], rest, value);
  const others = Object.entries(fields).filter(([name]) => name !== step);
  return Object.fromEntries(next === undefined ? others : [...others, [step, next]]);
}

/** The checked arguments of a call, or why it is refused. */
function outcomeOf(tool: Tool, given: unknown): unknown {
  try {
    const { input, idempotencyKey } = tool.prepare(recordOf(given));
    return { ...input, ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }) };
  } catch (error) {
    assert.ok(error instanceof MusterError, String(error));
    return { code: error.code, message: error.message };
  }
}

const isWrappable = ({ type }: Schema) =>
  typeof type === 'string' && ['array', 'object', 'boolean', 'integer', 'number'].includes(type);

/** The value with each wrappable part as JSON text, from the inside to the outside. */
function wrappedWithin(schema: Schema, value: unknown): unknown {
  let wrapped = value;
  for (const place of placesIn(schema, value).reverse()) {
    if (!isWrappable(place.schema) || place.given === undefined) continue;
    const within = place.path.reduce<unknown>((at, step) => Reflect.get(Object(at), step), wrapped);
    wrapped = withAt(wrapped, place.path, JSON.stringify(within));
  }
  return wrapped;
}

const ADDED_BY_CLIENTS = {
  toolCallId: 'call_1',
  sessionId: 'bea37d4f1436438caa8e4a42e1fdaf40',
  action: 'sendMessage',
  chatInput: 'hi',
  _sessionID: 'a-session',
  user_context: { id: 1 },
  wait_for_previous: true,
  tool_call_description: 'Adds a to-do',
  _meta: { progressToken: 1 },
};

/** Arguments that take any JSON, so that a text is a text. */
const FREE_FORM = ['firebase.write data', 'coding.end_task result', 'coding.report_task result'];

for (const { name, tool, input } of entries) {
  const { example } = tool;
  const full = { ...recordOf(sampleOf(input)), ...example };
  const places = placesIn(input, full);
  const isFree = ({ path }: Place) => FREE_FORM.includes(`${name} ${path[0]}`);

  describe(`${name} given wrapped arguments`, () => {
    it('takes null of each optional argument as left out', () => {
      for (const { path, isRequired } of places.filter((one) => !isFree(one) || one.path.length === 1)) {
        if (isRequired) continue;
        const [left, sent] = [undefined, null].map((value) => outcomeOf(tool, withAt(full, path, value)));
        assert.deepEqual(sent, left, path.join('.'));
      }
    });

    it('takes the example with null for everything that it leaves out', () => {
      let nulls: unknown = example;
      for (const { path, isRequired, given } of placesIn(input, example))
        if (given === undefined && !isRequired) nulls = withAt(nulls, path, null);
      assert.deepEqual(outcomeOf(tool, nulls), outcomeOf(tool, example));
    });

    it('takes each value that is no text as JSON text', () => {
      for (const place of places.filter((one) => isWrappable(one.schema) && !isFree(one))) {
        const text = JSON.stringify(place.given);
        for (const base of place.path.length === 1 ? [example, full] : [full]) {
          const [plain, wrapped] = [place.given, text].map((value) =>
            outcomeOf(tool, withAt(base, place.path, value)),
          );
          assert.deepEqual(wrapped, plain, place.path.join('.'));
        }
      }
    });

    it('takes texts within texts', () => {
      const free = places.filter((place) => isFree(place) && place.path.length === 1);
      const base = free.reduce<unknown>((value, { path }) => withAt(value, path, 'x'), example);
      assert.deepEqual(outcomeOf(tool, wrappedWithin(input, base)), outcomeOf(tool, base));
    });

    it('leaves texts that look like JSON as they are', () => {
      for (const { path, schema } of placesIn(input, example))
        for (const text of schema['type'] === 'string' ? ['5', 'true', '["a"]', '{"a":1}', 'null'] : []) {
          const outcome = outcomeOf(tool, withAt(example, path, text));
          if ('code' in recordOf(outcome) && 'message' in recordOf(outcome)) continue;
          const kept = path.reduce<unknown>((at, step) => Reflect.get(Object(at), step), outcome);
          assert.equal(kept, text, path.join('.'));
        }
    });

    it('ignores what clients add to every call, and nothing else', () => {
      const known = Object.keys(tool.input.shape);
      for (const [key, value] of Object.entries(ADDED_BY_CLIENTS).filter(([one]) => !known.includes(one)))
        assert.deepEqual(outcomeOf(tool, { ...example, [key]: value }), outcomeOf(tool, example), key);
      const { message } = recordOf(outcomeOf(tool, { ...example, toolCallID: 'call_1' }));
      assert.match(String(message), /^Unknown argument "toolCallID"\. Known arguments: /);
    });

    it('takes every time of RFC 3339', () => {
      for (const { path } of places.filter(({ schema }) => schema['format'] === 'date-time')) {
        const at = (time: string) => outcomeOf(tool, withAt(example, path, time));
        assert.deepEqual(at('2027-02-11t17:00:00z'), at('2027-02-11T17:00:00Z'));
        assert.deepEqual(at('2027-12-31T23:59:60Z'), at('2028-01-01T00:00:00.000Z'));
        assert.deepEqual(at('2027-12-31t15:59:60.5-08:00'), at('2028-01-01T00:00:00.500Z'));
      }
    });
  });
}
