/**
 * One occurrence of a rule.
 *
 * `on` is its calendar date in the rule's zone, `YYYY-MM-DD`: a rule has at most one occurrence a date. It
 * is the date that the rule means. Where the clock is put forward over midnight, `due` may be just after it.
 */
export interface Occurrence {
  readonly on: string;
  readonly due: Date;
}

/** The id of an occurrence's to-do, so that whoever creates it, and however often, makes one. */
export function occurrenceId(recurringTaskId: string, on: string): string {
  return `${recurringTaskId}_${on}`;
}
