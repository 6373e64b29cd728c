/** Finds every place in a tool's arguments that has a schema, and runs the tool with another value there. */
import assert from 'node:assert/strict';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import type { Tool } from '../../functions/src/mcp/tool.ts';
import type { Schema } from './agreement.ts';

/** Part of a path into a value: the name of a member or the index of an entry. */
type Step = string | number;

/** Place of an argument, of a member of an object or of an entry of a list. */
export interface Place {
  readonly path: readonly Step[];
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly given: unknown;
}

const NAME = 'name';

export const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

const schemaOf = (value: unknown): Schema => recordOf(value) as Schema;

/** Returns a value that has the type of the schema. The tool may still reject that value. */
export function sampleOf(schema: Schema): unknown {
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

/** Returns every place within a value for which a schema exists, outer places before inner ones. */
export function placesIn(schema: Schema, given: unknown, path: readonly Step[] = []): Place[] {
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

/** Returns a copy of the value with `value` at a path; undefined removes the member at that path. */
export function withAt(base: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(base)) return base.map((one, at) => (at === step ? withAt(one, rest, value) : one));
  const fields = recordOf(base);
  const next = withAt(fields[step], rest, value);
  const others = Object.entries(fields).filter(([name]) => name !== step);
  return Object.fromEntries(next === undefined ? others : [...others, [step, next]]);
}

/** Returns the validated arguments of a call, or the error of the validation. */
export function outcomeOf(tool: Tool, given: unknown): unknown {
  try {
    const { input, idempotencyKey } = tool.prepare(recordOf(given));
    const workspace = tool.workspaceIn(recordOf(given));
    const common = {
      ...(workspace !== undefined && { workspace }),
      ...(idempotencyKey && { idempotency_key: idempotencyKey }),
    };
    return { ...input, ...common };
  } catch (error) {
    assert.ok(error instanceof MusterError, String(error));
    return { code: error.code, message: error.message };
  }
}
