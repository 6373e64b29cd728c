/** Texts in answers that Muster itself writes and that name tools: what a caller can do next, and why something waits. */
import { z } from 'zod';
import { type JsonObject, jsonObject } from '../kernel/json.ts';
import { unwrapped } from './jsonSchema.ts';
import { isRecord } from './validation.ts';

const guidanceTexts = z.registry<{ readonly isGuidance: true }>();

/** A text of an answer in which tools have their full names. It holds nothing that somebody else wrote. */
export function guidance(): z.ZodString {
  return z.string().register(guidanceTexts, { isGuidance: true });
}

type Naming = (text: string) => string;

type Guide = (value: unknown, named: Naming) => unknown;

/** Prepares, once per schema, to write the tools in the guidance of its answers as the caller's endpoint lists them. */
export function guidanceIn(schema: z.ZodObject): (answer: JsonObject, named: Naming) => JsonObject {
  const guide = guideOf(schema);
  return guide === undefined ? (answer) => answer : (answer, named) => jsonObject.parse(guide(answer, named));
}

function guideOf(schema: z.core.$ZodType | undefined): Guide | undefined {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodString) {
    if (guidanceTexts.get(inner) === undefined) return undefined;
    return (value, named) => (typeof value === 'string' ? named(value) : value);
  }
  if (inner instanceof z.ZodArray) {
    const ofElement = guideOf(inner.element);
    if (ofElement === undefined) return undefined;
    return (value, named) => (Array.isArray(value) ? value.map((one) => ofElement(one, named)) : value);
  }
  return inner instanceof z.ZodObject ? guideOfObject(inner) : undefined;
}

function guideOfObject({ shape }: z.ZodObject): Guide | undefined {
  const guides = Object.entries<z.core.$ZodType>(shape).flatMap(([name, field]) => {
    const guide = guideOf(field);
    return guide === undefined ? [] : [[name, guide] as const];
  });
  if (guides.length === 0) return undefined;
  return (value, named) => {
    if (!isRecord(value)) return value;
    const anew = guides.flatMap(([name, guide]) => {
      const given = value[name];
      return given === undefined ? [] : [[name, guide(given, named)] as const];
    });
    return { ...value, ...Object.fromEntries(anew) };
  };
}
