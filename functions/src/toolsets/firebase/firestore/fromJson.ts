/** From the JSON form of docs/guides/data.md to Firestore's values. */

import { type DocumentReference, FieldValue } from '@google-cloud/firestore';
import type { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { invalidDataType, sizeLimitExceeded } from '../rules/errors.ts';
import {
  bytes,
  double,
  geoPoint,
  HALF_CHARACTER,
  integer,
  nameProblem,
  referencePath,
  timestamp,
  vector,
} from './values.ts';

/** Maps and lists within one another. Source: https://firebase.google.com/docs/firestore/quotas */
const MAX_DEPTH = 20;

/** Firestore has 40,000 index entries for a document, and a field takes two. Source: the same. */
export const MAX_FIELDS = 20_000;

const SHOWN_FIELD_LENGTH = 200;

const SPECIAL = /^__.*__$/s;

export interface Encoding {
  reference(path: string): DocumentReference;
  /** Where `__delete__` may stand; `dropped` takes such fields away here. */
  readonly deletes: 'nowhere' | 'top' | 'anywhere' | 'dropped';
  /** Whether values may be written that build on what is there, and the server's time. */
  readonly transforms: boolean;
}

/** Where in the data a value stands. */
interface Place {
  readonly field: string;
  readonly depth: number;
  /** What it stands directly within. */
  readonly parent: 'map' | 'list';
  /** Whether there is a list further up. */
  readonly inList: boolean;
}

/** What a field that is to be left out turns into. */
const DROPPED = Symbol('dropped');

type Fields = Readonly<Record<string, unknown>>;

/** @throws MusterError with reason INVALID_DATA_TYPE, naming the field */
export class Encoder {
  private readonly encoding: Encoding;
  private fieldCount = 0;
  private hasIncrements = false;

  constructor(encoding: Encoding) {
    this.encoding = encoding;
  }

  /** Whether what was encoded counts up what is there: done twice, it comes to something else. */
  get increments(): boolean {
    return this.hasIncrements;
  }

  /** The fields of a document. */
  document(data: JsonValue, field = 'data'): Fields {
    return this.fields(documentFields(data, field), { field, depth: 0, parent: 'map', inList: false });
  }

  /** The value of one field. @param depth 1 for a field of the document, 2 for one of a map in it, … */
  value(value: JsonValue, field: string, depth: number): unknown {
    return this.encode(value, { field, depth, parent: 'map', inList: false });
  }

  private fields(map: JsonObject, place: Place): Fields {
    const fields: [string, unknown][] = [];
    for (const [name, value] of Object.entries(map)) {
      if (value === undefined) continue;
      const within = inside(place, name, 'map');
      this.fieldCount += 1;
      if (this.fieldCount > MAX_FIELDS) throw tooManyFields();
      const problem = nameProblem(name);
      if (problem !== undefined) throw refusedAt(within, `The name of a field ${problem}.`);
      const encoded = this.encode(value, within);
      if (encoded !== DROPPED) fields.push([name, encoded]);
    }
    return Object.fromEntries(fields);
  }

  private encode(value: JsonValue, place: Place): unknown {
    if (typeof value === 'string') return text(value, place);
    if (typeof value === 'number') return finite(value, place);
    if (value === null || typeof value === 'boolean') return value;
    if (place.depth > MAX_DEPTH) {
      throw refusedAt(place, `Maps and lists go at most ${MAX_DEPTH} deep.`);
    }
    return isList(value) ? this.list(value, place) : this.map(value, place);
  }

  private list(list: readonly JsonValue[], place: Place): unknown[] {
    if (place.parent === 'list') {
      throw refusedAt(
        place,
        'Firestore stores no list directly within a list.',
        'Put a map around the inner one.',
      );
    }
    return list.map((value, index) => this.encode(value, inside(place, String(index), 'list')));
  }

  private map(map: JsonObject, place: Place): unknown {
    const [name, ...others] = Object.keys(map);
    const content = name === undefined ? undefined : map[name];
    if (name !== undefined && content !== undefined && others.length === 0 && SPECIAL.test(name)) {
      return this.special(name, content, place);
    }
    return this.fields(map, place);
  }

  private special(name: string, content: JsonValue, place: Place): unknown {
    const refuse = (what: string): MusterError => refusedAt(place, `${name} ${what}.`);
    switch (name) {
      case '__timestamp__':
        return timestamp(content, refuse);
      case '__geopoint__':
        return geoPoint(content, refuse);
      case '__reference__':
        return this.encoding.reference(referencePath(content, refuse));
      case '__bytes__':
        return bytes(content, refuse);
      case '__double__':
        return double(content, refuse);
      case '__integer__':
        return integer(content, refuse);
      case '__vector__':
        if (place.parent === 'list') throw refuse('cannot stand directly within a list');
        return vector(content, refuse);
      default:
        return this.transform(name, content, place, refuse);
    }
  }

  private transform(
    name: string,
    content: JsonValue,
    place: Place,
    refuse: (what: string) => MusterError,
  ): unknown {
    if (!TRANSFORMS.includes(name)) throw refuse('is no kind of value, and Firestore reserves such names');
    if (!this.encoding.transforms) throw refuse('cannot stand here');
    if (place.inList) throw refuse('cannot stand in a list');
    switch (name) {
      case '__serverTimestamp__':
        if (content !== true) throw refuse('takes true');
        return FieldValue.serverTimestamp();
      case '__increment__':
        if (typeof content !== 'number') throw refuse('takes a number');
        this.hasIncrements = true;
        return FieldValue.increment(finite(content, place));
      case '__delete__':
        if (content !== true) throw refuse('takes true');
        return this.deletion(place, refuse);
      case '__arrayUnion__':
        return FieldValue.arrayUnion(...this.elements(content, place, refuse));
      default:
        return FieldValue.arrayRemove(...this.elements(content, place, refuse));
    }
  }

  private deletion(place: Place, refuse: (what: string) => MusterError): unknown {
    const { deletes } = this.encoding;
    if (deletes === 'dropped') return DROPPED;
    if (deletes === 'anywhere' || (deletes === 'top' && place.depth === 1)) return FieldValue.delete();
    throw refuse(
      deletes === 'top'
        ? 'goes with update at the top only: name the field as "a.b"'
        : 'goes with update, or with set and merge',
    );
  }

  private elements(content: JsonValue, place: Place, refuse: (what: string) => MusterError): unknown[] {
    if (!isList(content) || content.length === 0) throw refuse('takes a list that is not empty');
    if (content.length > MAX_ELEMENTS) throw refuse(`takes at most ${MAX_ELEMENTS} elements`);
    return this.list(content, place);
  }
}

const TRANSFORMS: readonly string[] = [
  '__serverTimestamp__',
  '__increment__',
  '__delete__',
  '__arrayUnion__',
  '__arrayRemove__',
];

/** They are handed to the SDK as arguments, of which a call takes no more than fit on the stack. */
const MAX_ELEMENTS = 10_000;

/** @throws MusterError where the data is no object, or one that stands for a single value */
export function documentFields(data: JsonValue, field = 'data'): JsonObject {
  if (data === null || typeof data !== 'object' || isList(data)) {
    throw invalidDataType(
      field,
      'A Firestore document is an object of fields.',
      'Put the value into a field.',
    );
  }
  return data;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function inside({ field, depth, inList }: Place, name: string, parent: Place['parent']): Place {
  return {
    field: `${field}.${name}`.slice(0, SHOWN_FIELD_LENGTH),
    depth: depth + 1,
    parent,
    inList: inList || parent === 'list',
  };
}

export function tooManyFields(): MusterError {
  return sizeLimitExceeded(
    'data',
    `A document holds at most ${MAX_FIELDS} fields, those of maps in it included.`,
    'Split it over several documents.',
  );
}

function refusedAt({ field }: Place, what: string, suggestion?: string): MusterError {
  return invalidDataType(field, what, suggestion);
}

function text(value: string, place: Place): string {
  if (HALF_CHARACTER.test(value))
    throw refusedAt(place, 'A text holds half a character: an unpaired surrogate.');
  return value;
}

function finite(value: number, place: Place): number {
  if (!Number.isFinite(value)) {
    throw refusedAt(place, 'This number is too large for JSON.', 'Write {"__double__": "Infinity"}.');
  }
  return value;
}
