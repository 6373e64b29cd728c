import type { Answers } from './rules/answering.ts';
import type { Asking } from './rules/asking.ts';

/** What the tools ask. */
export interface InboxServices {
  readonly inbox: {
    readonly asking: Asking;
    readonly answers: Answers;
  };
}
