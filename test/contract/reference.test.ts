/** The reference is the record of what clients see of each tool: no change to it goes unnoticed. */
import assert from 'node:assert/strict';
import { staleFiles } from '../../scripts/reference/files.ts';
import { schemaRows } from '../../scripts/reference/tables.ts';
import { entries } from './catalogue.ts';

describe('the reference', () => {
  it('is as the definitions are: npm run reference', () => {
    assert.deepEqual(
      staleFiles().map(({ path }) => path),
      [],
    );
  });

  for (const { name, input, output } of entries)
    it(`shows each keyword of the schemas of ${name}`, () => {
      for (const schema of [input, output]) {
        assert.equal(schema['additionalProperties'], false);
        for (const [property, whole] of Object.entries(schema.properties ?? {})) {
          const shown = (part: unknown) => JSON.stringify(schemaRows({ properties: { [property]: part } }));
          for (const [path, without] of lackingOne(whole))
            assert.notEqual(shown(without), shown(whole), `${property}: ${path.join(' ')} is not shown`);
        }
      }
    });
});

/** The schema without one of its keywords, for each of them, at any depth. */
function lackingOne(schema: unknown, path: readonly string[] = []): [readonly string[], unknown][] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]): [readonly string[], unknown][] => {
    const here = [...path, keyword];
    const { [keyword]: _, ...without } = schema as Record<string, unknown>;
    const within = partsOf(keyword, value).flatMap(([name, part, replaced]) =>
      lackingOne(part, [...here, name]).map(([at, changed]): [readonly string[], unknown] => [
        at,
        { ...schema, [keyword]: replaced(changed) },
      ]),
    );
    return saysNothing(keyword, schema, path) ? within : [[here, without], ...within];
  });
}

type Part = readonly [name: string, schema: unknown, replaced: (part: unknown) => unknown];

/** The schemas within a keyword, with what the keyword holds when one of them is another. */
function partsOf(keyword: string, value: unknown): readonly Part[] {
  if (keyword === 'anyOf' && Array.isArray(value)) {
    return value.map((part, at) => [String(at), part, (other) => value.with(at, other)]);
  }
  if (keyword === 'properties' && typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([name, part]) => [
      name,
      part,
      (other) => ({ ...value, [name]: other }),
    ]);
  }
  return ['items', 'additionalProperties', 'propertyNames'].includes(keyword)
    ? [['', value, (other) => other]]
    : [];
}

/** What says itself of which type its value is. */
const TYPED: readonly string[] = ['enum', 'const', 'items', 'properties', 'additionalProperties'];

/** Whether the schema means the same without the keyword. */
function saysNothing(keyword: string, schema: object, path: readonly string[]): boolean {
  // Names are always strings.
  if (keyword === 'type') return path.includes('propertyNames') || TYPED.some((other) => other in schema);
  const value: unknown = Reflect.get(schema, keyword);
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
