/** The trail as Firestore keeps it: `trail/{id}`, an entry for the commit of a call. */

import { Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import {
  type Actor,
  changedPart,
  type Effect,
  type Fields,
  type FieldsCodec,
  keptEffects,
  type TrailEntry,
  thingKey,
} from '../trail.ts';
import { documentCodec, jsonText, timestamp } from './codec.ts';

/** What the trail tells of each change. Kinds that are left out tell nothing: another of their commit does. */
export type EffectsOf<Changes> = {
  readonly [Kind in keyof Changes]?: (change: Changes[Kind]) => Effect | undefined;
};

/** What is free-form is stored as one text under this name: Firestore's documents do not hold all that JSON does. */
const AS_JSON = '.json';

/** Fields of a document, whatever they are. Times are dates, as everywhere outside of documents. */
const fields = z
  .record(z.string(), z.unknown())
  .transform((stored): Fields => (AS_JSON in stored ? jsonText.parse(stored[AS_JSON]) : dated(stored)));

const { toDocument, fromDocument } = documentCodec(
  z.object({
    id: z.string(),
    at: timestamp,
    /** Who made the call, and which it was. */
    by: z.object({
      /** As security rules know them: `agent:…`, or a person's uid. */
      uid: z.string(),
      agent_id: z.string().nullable(),
      /** On whose behalf: an agent's owner, or the person. */
      owner_uid: z.string(),
      /** The grant of the app through which they called. */
      grant_id: z.string().nullable(),
      /** By its full name: `coordination.create_task`. */
      tool: z.string(),
      /** The workspace of the call. */
      workspace: z.string(),
      request_id: z.string(),
      /** The run that did it, in the name of who started it. */
      run_id: z.string().nullable().default(null),
      /** The uid of the person who approved the call, if an agent's call needed it. */
      approved_by: z.string().nullable().default(null),
    }),
    effects: z.array(
      z.object({
        /** `task`, `todo`: each feature names its own. */
        kind: z.string(),
        id: z.string(),
        /** The workspace that it belongs to; null where it is its owner's alone. */
        workspace: z.string().nullable(),
        owner_uid: z.string().nullable(),
        /** The fields that were changed, as the thing's document has them; of what is new or gone, all. */
        before: fields.nullable(),
        after: fields.nullable(),
        /** What was made was too much to be kept a second time, or what was there could not be kept. */
        cut: z.literal(true).exactOptional(),
        /** Of what was made and is not kept: digests of the fields, by their names. */
        digests: z.record(z.string(), z.string()).exactOptional(),
        /** The fields are whatever callers have written. */
        free_form: z.literal(true).exactOptional(),
      }),
    ),
    /** The entry that this one has taken back. */
    undoes: z.string().nullable(),
    /** The entry that has taken this one back. */
    undone_by: z.string().nullable(),
  }),
);

export const entryFromDocument = fromDocument;

/** By what entries are found, beside what they tell. */
export function entryToDocument(entry: TrailEntry): Record<string, unknown> {
  const effects = entry.effects.map((effect) => belonging(effect, entry.by));
  const kept = { ...entry, effects: keptEffects(effects).map(stored) };
  const workspace = effects.find((effect) => effect.workspace !== undefined)?.workspace ?? null;
  return { ...toDocument(kept), workspace, things: [...new Set(effects.map(thingKey))] };
}

/** @param fromDocument reads a document, in which times are Firestore's */
export function fieldsCodec<Value>(
  of: (value: Value) => Fields,
  fromDocument: (data: unknown) => Value,
): FieldsCodec<Value> {
  return { of, from: (fields) => fromDocument(mapped(fields, stamped)) };
}

function dated(stored: Fields): Fields {
  return mapped(stored, (part) => (part instanceof Timestamp ? part.toDate() : undefined));
}

function stamped(part: unknown): unknown {
  return part instanceof Date ? Timestamp.fromDate(part) : undefined;
}

/** @param replaced gives undefined for what stays, whose parts are then looked at */
function mapped(fields: Fields, replaced: (part: unknown) => unknown): Fields {
  const walk = (part: unknown): unknown => {
    const other = replaced(part);
    if (other !== undefined) return other;
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null || part instanceof Date || part instanceof Timestamp)
      return part;
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, walk(value)]));
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, walk(value)]));
}

function stored(effect: Effect): Effect {
  const { before, after, freeForm } = effect;
  if (!freeForm) return effect;
  const asJson = (state: Fields) => ({ [AS_JSON]: JSON.stringify(state) });
  return { ...effect, ...(before && { before: asJson(before) }), ...(after && { after: asJson(after) }) };
}

/** What says neither whose it is nor where is of the workspace of the call. */
function belonging(effect: Effect, { workspace }: Actor): Effect {
  const isSaid = effect.workspace !== undefined || effect.ownerUid !== undefined;
  return isSaid ? effect : { ...effect, workspace };
}

/** What the trail tells of a commit. */
export function effectsOf<Changes, Kind extends keyof Changes>(
  told: EffectsOf<Changes>,
  changes: readonly ({ readonly kind: Kind } & Changes[Kind])[],
): readonly Effect[] {
  return changes.flatMap((change) => {
    const effect = told[change.kind]?.(change);
    return (effect && changedPart(effect)) ?? [];
  });
}
