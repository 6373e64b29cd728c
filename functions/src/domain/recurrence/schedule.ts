/** Finds occurrences with what occurrences.ts computes; the calendar is loaded when it is first needed. */
import type { Occurrence } from './occurrence.ts';
import type { RecurrenceRule } from './rule.ts';

/** The occurrence that the anchor is. */
export async function firstOccurrence(rule: RecurrenceRule): Promise<Occurrence> {
  const occurrences = await import('./occurrences.ts');
  return occurrences.firstOccurrence(rule);
}

/**
 * The first occurrence that is due after an instant, computed from the anchor: in a month that lacks the
 * anchor's day on its last, at the anchor's time of day, in a gap of the clock as much later as the gap is
 * long, in an overlap the first time. It takes the same few steps however far away that is.
 *
 * @param after what the occurrence is due strictly after: for a completed one the later of its due date and
 *   its completion
 * @param afterDate `on` of the occurrence that it follows, where there is one. It makes sure that the next
 *   one has another id when the to-do was moved ahead or the rule was edited.
 * @returns undefined after the last
 */
export async function nextOccurrence(
  rule: RecurrenceRule,
  after: Date,
  afterDate?: string,
): Promise<Occurrence | undefined> {
  const occurrences = await import('./occurrences.ts');
  return occurrences.nextOccurrence(rule, after, afterDate);
}
