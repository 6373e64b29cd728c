/** How long the arrays may be that a schema knows: worked out once per schema, so that no call walks it again. */
import { z } from 'zod';

/** Of an array that lists no maximum of its own. No tool takes more. */
export const MAX_ENTRIES = 1000;

/** The arrays at and below one place of a schema. What the schema leaves open, any JSON, has none. */
export interface ArrayBounds {
  /** Of the array at this place, if it is one. */
  readonly most?: number;
  readonly element?: ArrayBounds;
  readonly fields?: ReadonlyMap<string, ArrayBounds>;
}

export function arrayBoundsOf(schema: z.core.$ZodType): ArrayBounds | undefined {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray) {
    const element = arrayBoundsOf(inner.element);
    return { most: listedMaximum(inner), ...(element && { element }) };
  }
  if (!(inner instanceof z.ZodObject)) return undefined;
  const fields = Object.entries<z.core.$ZodType>(inner.shape).flatMap(([name, field]) => {
    const bounds = arrayBoundsOf(field);
    return bounds ? [[name, bounds] as const] : [];
  });
  return fields.length === 0 ? undefined : { fields: new Map(fields) };
}

/** The schema within what only says that a value may be absent. */
export function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
    inner = inner.unwrap();
  }
  return inner;
}

function listedMaximum(schema: z.ZodArray): number {
  const maxima = (schema.def.checks ?? []).flatMap((check) =>
    check instanceof z.core.$ZodCheckMaxLength ? [check._zod.def.maximum] : [],
  );
  return Math.min(MAX_ENTRIES, ...maxima);
}
