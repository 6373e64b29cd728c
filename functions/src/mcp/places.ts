/** Which values a schema takes at each of its places. */
import { z } from 'zod';
import { type JsonType, jsonTypeOf } from '../kernel/json.ts';
import { unwrapped } from './jsonSchema.ts';

/** The values that a schema takes at one place. Worked out once per schema, so that no call walks the schema again. */
export interface Place {
  /** The types that it takes; undefined for any JSON. */
  readonly types: ReadonlySet<JsonType> | undefined;
  /** Whether it may be left out. */
  readonly isOptional: boolean;
  readonly isTime?: boolean;
  /** Maximum length of an array. */
  readonly most?: number;
  readonly element?: Place;
  readonly fields?: ReadonlyMap<string, Place>;
  /** Each value of a record. */
  readonly entry?: Place;
}

/** Default maximum length of an array whose schema lists none. No tool takes more. */
const MAX_ENTRIES = 1000;

/** Returns the plan of a schema, by which its arguments are normalized. */
export function placeOf(schema: z.core.$ZodType): Place {
  const isOptional = schema._zod.optin !== undefined;
  const inner = unwrapped(schema);
  const place = (types: Iterable<JsonType> | undefined, rest: Partial<Place> = {}): Place => ({
    types: types && new Set(types),
    isOptional,
    ...rest,
  });
  if (inner instanceof z.core.$ZodISODateTime) return place(['string'], { isTime: true });
  if (inner instanceof z.core.$ZodString) return place(['string']);
  if (inner instanceof z.core.$ZodNumber) return place(['number']);
  if (inner instanceof z.core.$ZodBoolean) return place(['boolean']);
  if (inner instanceof z.core.$ZodNull) return place(['null']);
  if (inner instanceof z.core.$ZodEnum || inner instanceof z.core.$ZodLiteral)
    return place([...inner._zod.values].map(jsonTypeOf));
  if (inner instanceof z.core.$ZodArray)
    return place(['array'], { most: listedMaximum(inner), element: placeOf(inner._zod.def.element) });
  if (inner instanceof z.core.$ZodRecord) {
    const entry = placeOf(inner._zod.def.valueType);
    // Any name may be left out of a record, but a null in free-form data is data.
    return place(['object'], { entry: { ...entry, isOptional: entry.types !== undefined } });
  }
  if (inner instanceof z.core.$ZodObject) {
    const fields = Object.entries(inner._zod.def.shape);
    return place(['object'], { fields: new Map(fields.map(([name, field]) => [name, placeOf(field)])) });
  }
  if (inner instanceof z.core.$ZodUnion) return place(typesOfAny(inner._zod.def.options));
  return place(undefined);
}

/** Returns the types that any of several schemas takes. What is within them is left as it is. */
function typesOfAny(schemas: readonly z.core.$ZodType[]): Iterable<JsonType> | undefined {
  const types = schemas.map((schema) => placeOf(schema).types);
  return types.includes(undefined) ? undefined : types.flatMap((some = new Set()) => [...some]);
}

function listedMaximum(schema: z.core.$ZodArray): number {
  const maxima = (schema._zod.def.checks ?? []).flatMap((check) =>
    check instanceof z.core.$ZodCheckMaxLength ? [check._zod.def.maximum] : [],
  );
  return Math.min(MAX_ENTRIES, ...maxima);
}
