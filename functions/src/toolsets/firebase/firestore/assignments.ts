/** Fields of a document and their new values, one by one, as an update takes them. */

import {
  type DocumentReference,
  FieldPath,
  FieldValue,
  type Precondition,
  type WriteBatch,
} from '@google-cloud/firestore';
import type { JsonValue } from '../../../kernel/json.ts';
import { invalidDataType, invalidRequest } from '../rules/errors.ts';
import { documentFields, type Encoder, MAX_FIELDS, tooManyFields } from './fromJson.ts';
import { isInherited, pathProblem, splitFieldPath } from './values.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A field's path as names, and its new value. */
type Assignment = readonly [path: readonly string[], value: unknown];

/** `set` takes no precondition, but an update that names every field comes to the same. */
export function replacing(fields: Fields, old: Fields): readonly Assignment[] {
  const gone = Object.keys(old).filter((name) => !Object.hasOwn(fields, name));
  return [
    ...Object.entries(fields).map(([name, value]): Assignment => [[name], absolute(name, value)]),
    ...gone.map((name): Assignment => [[name], FieldValue.delete()]),
  ];
}

/** An update would let it build on the old value, which a set takes away first. */
function absolute(name: string, value: unknown): unknown {
  const relative = value instanceof FieldValue && !value.isEqual(FieldValue.serverTimestamp());
  if (!relative) return value;
  const what = 'What replaces a document in a transaction cannot build on what was there.';
  throw invalidDataType(`data.${name}`, what, 'Use update, or write the value itself.');
}

/** As `set` with `merge` understands its data: what it names to the last map is replaced. */
export function merging(fields: Fields, above: readonly string[]): readonly Assignment[] {
  return Object.entries(fields).flatMap(([name, value]): readonly Assignment[] => {
    const path = [...above, name];
    return isFilledMap(value) ? merging(value, path) : [[path, value]];
  });
}

function isFilledMap(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length > 0;
}

/** An update must name a field, and rules must be asked also where nothing changes. */
export const NO_CHANGE: readonly Assignment[] = [[['_'], FieldValue.delete()]];

/** What `update` names, each name a field's path. */
export function assignments(values: Encoder, data: JsonValue): readonly Assignment[] {
  const named = Object.entries(documentFields(data));
  if (named.length === 0) throw invalidRequest('data', 'An update names at least one field.');
  if (named.length > MAX_FIELDS) throw tooManyFields();
  const all = named.map(([text, value]): Assignment => {
    const field = `data.${text.slice(0, 200)}`;
    const problem = pathProblem(text);
    if (problem !== undefined) throw invalidDataType(field, `The path of a field ${problem}.`);
    const path = splitFieldPath(text);
    return [path, values.value(value ?? null, field, path.length)];
  });
  refuseOverlap(all);
  return all;
}

/** A field and one within it cannot both be assigned. */
function refuseOverlap(all: readonly Assignment[]): void {
  const assigned = new Set(all.map(([path]) => path.join('.')));
  for (const [path] of all) {
    const above = path.slice(0, -1).map((_name, index) => path.slice(0, index + 1).join('.'));
    const overlap = above.find((one) => assigned.has(one));
    if (overlap === undefined) continue;
    const suggestion = 'Name either the map or the fields in it.';
    throw invalidRequest(
      `data.${overlap.slice(0, 200)}`,
      'An update names a field, and a field in it too.',
      suggestion,
    );
  }
}

function refuseInherited(path: readonly string[]): void {
  const name = path.find(isInherited);
  if (name === undefined) return;
  throw invalidDataType(
    `data.${path.join('.').slice(0, 200)}`,
    `A field named "${name}" cannot be updated.`,
    'Use another name, or set the whole document without a transaction.',
  );
}

/** With field paths as arguments, since names may hold what the SDK does not take in a text. */
export function update(
  batch: WriteBatch,
  document: DocumentReference,
  changes: readonly Assignment[],
  precondition?: Precondition,
): void {
  for (const [path] of changes) refuseInherited(path);
  const [first = [[], undefined], ...others] = changes;
  const rest = others.flatMap(([path, value]) => [new FieldPath(...path), value]);
  const [path, value] = first;
  batch.update(document, new FieldPath(...path), value, ...rest, ...(precondition ? [precondition] : []));
}
