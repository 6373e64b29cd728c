/** Effects of audit entries: storage, comparison, and undo. Source: docs/decisions/0036-trail.md. */
import { createHash } from 'node:crypto';
import type { AuditEffect } from './auditLog.ts';
import type { Fields } from './documentCodec.ts';
import { MusterError } from './errors.ts';
import { canonicalJson } from './json.ts';

/**
 * Limits of the `after` fields that one audit entry stores, in bytes. Above the first limit, short fields are stored,
 * and long fields are replaced by digests, by which undo still detects changes. The item's document keeps all fields.
 */
const MAX_EFFECT_BYTES = 200_000;
const MAX_SHORTENED_BYTES = 300_000;
const DIGEST_LETTERS = 16;

/** Returns the key by which the audit entries of an item are found. */
export function itemKey({ kind, id }: Pick<AuditEffect, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** Names an item in its effects. */
type ItemNames = Pick<AuditEffect, 'kind' | 'id' | 'workspace' | 'owner_uid'>;

/** Returns the function that describes a change of one kind of items. @param fieldsOf the fields to record */
export function effectsOf<Item>(namesOf: (item: Item) => ItemNames, fieldsOf: (item: Item) => Fields) {
  return (
    item: Item,
    { before, after }: { readonly before?: Item | undefined; readonly after?: Item },
  ): AuditEffect => ({
    ...namesOf(item),
    ...(before && { before: fieldsOf(before) }),
    ...(after && { after: fieldsOf(after) }),
  });
}

/** Returns the effect with only the fields that it changes; undefined if no field changes. */
export function changedPart(effect: AuditEffect): AuditEffect | undefined {
  const { before, after } = effect;
  if (before === undefined || after === undefined) return before === after ? undefined : effect;
  const names = changedNames(before, after);
  return names.length === 0 ? undefined : { ...effect, before: only(before, names), after: only(after, names) };
}

/** Returns the names of the fields in which two states of an item differ. */
export function changedNames(before: Fields, after: Fields): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => before[name] !== after[name] && textOf(before[name]) !== textOf(after[name]));
}

/** Returns the effects to store in a commit's audit entry, without long new fields if the entry is too large. */
export function storedEffects(effects: readonly AuditEffect[]): readonly AuditEffect[] {
  const room = MAX_SHORTENED_BYTES / Math.max(1, effects.length);
  let left = MAX_EFFECT_BYTES;
  return effects.map((effect) => {
    left -= textOf(effect.after).length;
    return left >= 0 ? effect : shortened(effect, room);
  });
}

/** Returns the effect with as many of its shortest fields as fit, and digests of its other fields. */
function shortened({ after = {}, ...effect }: AuditEffect, room: number): AuditEffect {
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

/** Returns whether a field still has the value that it has in the effect; undefined if the effect lacks the field. */
export function isUnchanged(
  { after = {}, digests = {} }: AuditEffect,
  name: string,
  value: unknown,
): boolean | undefined {
  if (name in after) return textOf(after[name]) === textOf(value);
  const digest = digests[name];
  return digest === undefined ? undefined : digest === digestOf(textOf(value));
}

/**
 * Returns the fields that undo an effect.
 * @param current the document's current fields; undefined if the document does not exist
 * @returns the fields before the effect; undefined if the item did not exist before
 * @throws MusterError CONFLICT with reason CHANGED_SINCE if one of the fields has changed after the effect
 */
export function restoredFields(effect: AuditEffect, current: Fields | undefined): Fields | undefined {
  const { before, after, digests = {} } = effect;
  if (after === undefined) {
    if (current !== undefined) throw changedSinceError(effect, ['it exists again']);
    return before;
  }
  if (current === undefined) throw changedSinceError(effect, ['it was deleted']);
  const names = [...Object.keys(after), ...Object.keys(digests)];
  const changed = names.filter((name) => isUnchanged(effect, name, current[name]) === false);
  if (changed.length > 0) throw changedSinceError(effect, changed);
  if (before === undefined) return undefined;
  const kept = Object.entries(current).filter(([name]) => !names.includes(name) || name in before);
  return { ...Object.fromEntries(kept), ...before };
}

/** @param what names of the fields that differ, or a description of another difference */
export function changedSinceError({ kind, id }: AuditEffect, what: readonly string[]): MusterError {
  return new MusterError('CONFLICT', `The ${kind} "${id}" changed in the meantime: ${what.join(', ')}.`, {
    reason: 'CHANGED_SINCE',
    suggestion: 'Read the current state, then make the change that you need.',
  });
}

/** @param why the cause, as a full sentence */
export function cannotUndoError({ kind, id }: AuditEffect, why: string): MusterError {
  return new MusterError('CONFLICT', `The ${kind} "${id}" cannot be undone. ${why}`, { reason: 'CANNOT_BE_UNDONE' });
}

/** Returns the named fields. */
export function only(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LETTERS);
}

/** Returns a text by which stored values are compared: dates become text, and keys are sorted. */
function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(JSON.parse(JSON.stringify(value)));
}
