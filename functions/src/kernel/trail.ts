/** The trail: each commit of a call that changes a thing leaves one entry. Source: docs/decisions/0036-trail.md. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { documentCodec, isTimestamp, jsonText, timestamp } from './documentCodec.ts';
import { MusterError } from './errors.ts';
import { canonicalJson } from './json.ts';

/** What is free-form is stored as one text under this name: Firestore's documents do not hold all that JSON does. */
export const AS_JSON = '.json';

/** Fields of a document, whatever they are. Times are dates, as everywhere outside of documents. */
const fields = z
  .record(z.string(), z.unknown())
  .transform((stored): Fields => (AS_JSON in stored ? jsonText.parse(stored[AS_JSON]) : dated(stored)));

export const entryCodec = documentCodec(
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

export const entryFromDocument = entryCodec.fromDocument;

/** What the commit of one call has changed. */
export type TrailEntry = ReturnType<typeof entryFromDocument>;

/** Who makes a call that writes, and which call it is. */
export type Actor = TrailEntry['by'] & {
  /** The loosenings that the person who approved the call was shown, in words; not stored. Absent if the call had none to show. */
  readonly shown?: readonly string[] | undefined;
};

/** A thing that a commit changes. Without `before` there was none, without `after` there is none any more. */
export type Effect = TrailEntry['effects'][number];

/** What is stored of a thing, as its document has it. */
export type Fields = Readonly<Record<string, unknown>>;

/** Things as the trail tells of them, and back. */
export interface FieldsCodec<Value> {
  readonly of: (value: Value) => Fields;
  /** @throws ZodError where they are not those of such a thing */
  readonly from: (fields: Fields) => Value;
}

/** @param fromDocument reads a document, in which times are Firestore's */
export function fieldsCodec<Value>(
  of: (value: Value) => Fields,
  fromDocument: (data: unknown) => Value,
): FieldsCodec<Value> {
  const stamped = (part: unknown) => (part instanceof Date ? { toDate: () => part } : undefined);
  return { of, from: (fields) => fromDocument(mapped(fields, stamped)) };
}

function dated(stored: Fields): Fields {
  return mapped(stored, (part) => (isTimestamp(part) ? part.toDate() : undefined));
}

/** @param replaced gives undefined for what stays, whose parts are then looked at */
function mapped(fields: Fields, replaced: (part: unknown) => unknown): Fields {
  const walk = (part: unknown): unknown => {
    const other = replaced(part);
    if (other !== undefined) return other;
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null || part instanceof Date) return part;
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, walk(value)]));
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, walk(value)]));
}

/**
 * More of what a call has made is not kept: it is in the thing itself. Of the rest, short fields are kept and the others are
 * known by their digests, so that a change is still found. What was there before is kept whole.
 */
const MAX_MADE_BYTES = 200_000;
const MAX_SHORTENED_BYTES = 300_000;
const DIGEST_LETTERS = 16;

/** The name by which entries are found that tell of a thing. */
export function thingKey({ kind, id }: Pick<Effect, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** The effect with the fields alone that it changes; undefined where it changes none. */
export function changedPart(effect: Effect): Effect | undefined {
  const { before, after } = effect;
  if (before === undefined || after === undefined) return before === after ? undefined : effect;
  const names = changedNames(before, after);
  return names.length === 0
    ? undefined
    : { ...effect, before: only(before, names), after: only(after, names) };
}

/** The names of the fields in which two states of a thing differ. */
export function changedNames(before: Fields, after: Fields): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => textOf(before[name]) !== textOf(after[name]));
}

/** The effects of a commit as its entry keeps them: without long fields of what it has made if that is too much. */
export function keptEffects(effects: readonly Effect[]): readonly Effect[] {
  const room = MAX_SHORTENED_BYTES / Math.max(1, effects.length);
  let left = MAX_MADE_BYTES;
  return effects.map((effect) => {
    left -= textOf(effect.after).length;
    return left >= 0 ? effect : shortened(effect, room);
  });
}

/** The effect with as many of its fields as there is room for, the shortest first, and digests of the others. */
function shortened({ after = {}, ...effect }: Effect, room: number): Effect {
  const digests: Record<string, string> = {};
  const kept: Record<string, unknown> = {};
  let left = room;
  const texts = Object.entries(after).map(([name, value]) => ({ name, value, text: textOf(value) }));
  for (const { name, value, text } of texts.sort((one, other) => one.text.length - other.text.length)) {
    left -= name.length + text.length;
    if (left >= 0) kept[name] = value;
    else digests[name] = digestOf(text);
  }
  return { ...effect, after: kept, cut: true, digests };
}

/** What a field of a thing became: its value if the trail keeps it, or whether it is the same; undefined if that is not known. */
export function isStill(
  { after = {}, digests = {} }: Effect,
  name: string,
  value: unknown,
): boolean | undefined {
  if (name in after) return textOf(after[name]) === textOf(value);
  const digest = digests[name];
  return digest === undefined ? undefined : digest === digestOf(textOf(value));
}

/**
 * What takes an effect back as long as nobody has changed the same fields since.
 * @param current as the document has it now; undefined where there is none
 * @returns the fields as they were; undefined where there was nothing
 * @throws MusterError CONFLICT with reason CHANGED_SINCE
 */
export function asBefore(effect: Effect, current: Fields | undefined): Fields | undefined {
  const { before, after, digests = {} } = effect;
  if (after === undefined) {
    if (current !== undefined) throw changedSince(effect, ['there is one again']);
    return before;
  }
  if (current === undefined) throw changedSince(effect, ['it is gone']);
  const names = [...Object.keys(after), ...Object.keys(digests)];
  const changed = names.filter((name) => isStill(effect, name, current[name]) === false);
  if (changed.length > 0) throw changedSince(effect, changed);
  if (before === undefined) return undefined;
  const kept = Object.entries(current).filter(([name]) => !names.includes(name) || name in before);
  return { ...Object.fromEntries(kept), ...before };
}

/** @param what the fields that differ, or what else is so */
export function changedSince({ kind, id }: Effect, what: readonly string[]): MusterError {
  return new MusterError('CONFLICT', `The ${kind} "${id}" has changed since: ${what.join(', ')}.`, {
    reason: 'CHANGED_SINCE',
    suggestion: 'Look at it as it is now, and change it as you want it.',
  });
}

/** @param why in a sentence */
export function cannotUndo({ kind, id }: Effect, why: string): MusterError {
  return new MusterError('CONFLICT', `The ${kind} "${id}" cannot be taken back. ${why}`, {
    reason: 'CANNOT_BE_UNDONE',
  });
}

function only(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LETTERS);
}

/** By which stored values are compared: dates as text, fields in one order. */
function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(JSON.parse(JSON.stringify(value)));
}
