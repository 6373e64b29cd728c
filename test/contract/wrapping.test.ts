/** Some clients send arguments as JSON text. Such arguments have the same meaning as plain arguments. */
import assert from 'node:assert/strict';
import type { Schema } from './agreement.ts';
import { entries } from './catalog.ts';
import { outcomeOf, type Place, placesIn, recordOf, sampleOf, withAt } from './places.ts';

const isWrappable = ({ type }: Schema) =>
  typeof type === 'string' && ['array', 'object', 'boolean', 'integer', 'number'].includes(type);

/** Returns the value after replacing each part that clients may wrap by its JSON text, innermost parts first. */
function wrappedWithin(schema: Schema, value: unknown, isFree: (place: Place) => boolean): unknown {
  let wrapped = value;
  for (const place of placesIn(schema, value).reverse()) {
    if (!isWrappable(place.schema) || isFree(place) || place.given === undefined) continue;
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

/** Arguments that accept any JSON value. In these arguments, a text that contains JSON must stay a text. */
const FREE_FORM = ['firebase.write data', 'coding.end_task result', 'coding.report_task result'];

for (const { name, tool, input } of entries) {
  const { example } = tool;
  const full = { ...recordOf(sampleOf(input)), ...example };
  const places = placesIn(input, full);
  const isFree = ({ path }: Place) => FREE_FORM.includes(`${name} ${path[0]}`);

  describe(`${name} given wrapped arguments`, () => {
    it('treats an optional argument with the value null as omitted', () => {
      for (const { path, isRequired } of places.filter((one) => !isFree(one) || one.path.length === 1)) {
        if (isRequired) continue;
        const [left, sent] = [undefined, null].map((value) => outcomeOf(tool, withAt(full, path, value)));
        assert.deepEqual(sent, left, path.join('.'));
      }
    });

    it('accepts its example with null for every omitted argument', () => {
      let nulls: unknown = example;
      for (const { path, isRequired, given } of placesIn(input, example))
        if (given === undefined && !isRequired) nulls = withAt(nulls, path, null);
      assert.deepEqual(outcomeOf(tool, nulls), outcomeOf(tool, example));
    });

    it('accepts JSON text for each argument that is not a string', () => {
      for (const place of places.filter((one) => isWrappable(one.schema) && !isFree(one))) {
        const text = JSON.stringify(place.given);
        for (const base of place.path.length === 1 ? [example, full] : [full]) {
          const [plain, wrapped] = [place.given, text].map((value) => outcomeOf(tool, withAt(base, place.path, value)));
          assert.deepEqual(wrapped, plain, place.path.join('.'));
        }
      }
    });

    it('accepts JSON texts inside other JSON texts', () => {
      const free = places.filter((place) => isFree(place) && place.path.length === 1);
      const base = free.reduce<unknown>((value, { path }) => withAt(value, path, 'x'), example);
      assert.deepEqual(outcomeOf(tool, wrappedWithin(input, base, isFree)), outcomeOf(tool, base));
    });

    it('does not parse a string argument whose text looks like JSON', () => {
      for (const { path, schema } of placesIn(input, example))
        for (const text of schema['type'] === 'string' ? ['5', 'true', '["a"]', '{"a":1}', 'null'] : []) {
          const outcome = outcomeOf(tool, withAt(example, path, text));
          if ('code' in recordOf(outcome) && 'message' in recordOf(outcome)) continue;
          const kept = path.reduce<unknown>((at, step) => Reflect.get(Object(at), step), outcome);
          assert.equal(kept, text, path.join('.'));
        }
    });

    it('ignores the arguments that some clients add to every call, and no other unknown argument', () => {
      const known = Object.keys(tool.input.shape);
      for (const [key, value] of Object.entries(ADDED_BY_CLIENTS).filter(([one]) => !known.includes(one)))
        assert.deepEqual(outcomeOf(tool, { ...example, [key]: value }), outcomeOf(tool, example), key);
      const { message } = recordOf(outcomeOf(tool, { ...example, toolCallID: 'call_1' }));
      assert.match(String(message), /^Unknown argument "toolCallID"\. Known arguments: /);
    });

    it('accepts every form of time that RFC 3339 allows', () => {
      for (const { path } of places.filter(({ schema }) => schema['format'] === 'date-time')) {
        const at = (time: string) => outcomeOf(tool, withAt(example, path, time));
        assert.deepEqual(at('2027-02-11t17:00:00z'), at('2027-02-11T17:00:00Z'));
        assert.deepEqual(at('2027-12-31T23:59:60Z'), at('2028-01-01T00:00:00.000Z'));
        assert.deepEqual(at('2027-12-31t15:59:60.5-08:00'), at('2028-01-01T00:00:00.500Z'));
      }
    });
  });
}
