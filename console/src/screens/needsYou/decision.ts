/** Returns the outcome of a question in words, and that of the call that waited for the approval. */
import { z } from 'zod/mini';
import { needsYou as text } from '../../../text/needsYou.ts';
import { fill } from '../../../ui/format.ts';
import type { Request } from '../../live/documents.ts';
import { parsed } from '../../parts/json.ts';

export const APPROVE = 'approve';
export const REFUSE = 'refuse';

export interface Decision {
  readonly words: string;
  readonly isGood: boolean;
  /** Outcome of the approved call. */
  readonly call?: string;
}

/** Returns the decision; undefined while the question is open. */
export function decisionOf({ kind, state, answer, default: fallback, call, outcome }: Request): Decision | undefined {
  if (state === 'open') return undefined;
  if (state === 'withdrawn') return { words: text.withdrawn, isGood: false };
  if (state === 'expired') {
    const words = fallback === null ? text.expired : fill(text.expiredDefault, { answer: fallback });
    return { words, isGood: false };
  }
  if (kind !== 'approval') return { words: fill(text.answered, { answer: answer ?? '' }), isGood: true };
  if (answer !== APPROVE) return { words: text.declined, isGood: false };
  return { words: text.approved, isGood: true, ...(call !== null && { call: outcomeOf(outcome) }) };
}

/** Source: functions/src/toolsets/inbox/rules/approvals.ts, `storedOutcome`. */
const failure = z.object({ error: z.object({ message: z.string() }) });

function outcomeOf(outcome: Request['outcome']): string {
  if (outcome === null) return text.callRuns;
  const failed = failure.safeParse(parsed(outcome));
  return failed.success ? fill(text.callFailed, { message: failed.data.error.message }) : text.callDone;
}
