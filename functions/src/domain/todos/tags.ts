import { MusterError } from '../errors.ts';
import { caseFolded } from './todo.ts';

export const MAX_TAGS = 10;

export const MAX_TAG_LENGTH = 50;

/**
 * Tags trimmed, in their order, each once whatever its case.
 * @throws MusterError VALIDATION_ERROR, with the reason MAX_TAGS_EXCEEDED for more than ten
 */
export function checkedTags(written: readonly string[], field = 'tags'): readonly string[] {
  if (written.length > MAX_TAGS) throw tooManyTags(field);
  return addedTags([], written, field);
}

/**
 * The tags that a to-do has after more are added to those that it has.
 * @throws MusterError VALIDATION_ERROR, with the reason MAX_TAGS_EXCEEDED for more than ten
 */
export function addedTags(
  present: readonly string[],
  written: readonly string[],
  field = 'tags',
): readonly string[] {
  const tags = new Map(present.map((tag) => [caseFolded(tag), tag]));
  for (const tag of written.map((text) => text.trim())) {
    if (tag === '' || tag.length > MAX_TAG_LENGTH) throw badTag(field);
    if (!tags.has(caseFolded(tag))) tags.set(caseFolded(tag), tag);
  }
  if (tags.size > MAX_TAGS) throw tooManyTags(field);
  return [...tags.values()];
}

function badTag(field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', `A tag has 1 to ${MAX_TAG_LENGTH} characters.`, {
    field,
    reason: 'INVALID_TAG',
  });
}

function tooManyTags(field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', `More than ${MAX_TAGS} tags. Nothing was changed.`, {
    field,
    reason: 'MAX_TAGS_EXCEEDED',
    suggestion: `A task has at most ${MAX_TAGS} tags; replace them with update_task.`,
  });
}
