/** Texts in answers that Muster itself writes and that name tools: what a caller can do next, and why something waits. */
import { z } from 'zod';
import { unwrapped } from './jsonSchema.ts';

const guidanceTexts = z.registry<{ readonly isGuidance: true }>();

/** A text of an answer in which tools have their full names. It holds nothing that somebody else wrote. */
export function guidance(): z.ZodString {
  return z.string().register(guidanceTexts, { isGuidance: true });
}

/** Where an answer has guidance: a text, each entry of a list, fields of an object. */
export type GuidancePlan =
  | 'text'
  | { readonly each: GuidancePlan }
  | { readonly fields: ReadonlyMap<string, GuidancePlan> };

/** Returns where the answers of a schema have guidance; undefined if nowhere. */
export function guidanceIn(schema: z.core.$ZodType | undefined): GuidancePlan | undefined {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodString) return guidanceTexts.get(inner) && 'text';
  if (inner instanceof z.ZodArray) {
    const each = guidanceIn(inner.element);
    return each && { each };
  }
  if (!(inner instanceof z.ZodObject)) return undefined;
  const fields = Object.entries<z.core.$ZodType>(inner.shape).flatMap(([name, field]) => {
    const plan = guidanceIn(field);
    return plan === undefined ? [] : [[name, plan] as const];
  });
  return fields.length === 0 ? undefined : { fields: new Map(fields) };
}
