/** Recognizes in an event of the audit log what it did to the proof of a task's result. */
import { z } from 'zod/mini';

interface Change {
  readonly kind: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

export interface Proving<Of> {
  readonly verdict: 'handedIn' | 'handedInAgain' | 'approved' | 'sentBack' | 'waived' | 'gaveUp';
  /** Change of the task whose result is proven. */
  readonly task: Of;
  /** Values for the sentence. */
  readonly values: Readonly<Record<string, string>>;
}

const list = <Item extends z.ZodMiniType>(item: Item) => z.catch(z.array(item), []);
const fields = z.catch(
  z.object({
    status: z.catch(z.optional(z.string()), undefined),
    proof: z.catch(z.nullish(z.object({ round: z.number(), passed: z.array(z.unknown()) })), undefined),
    sent_back: list(z.object({ comments: z.string() })),
    proven: list(z.object({ step: z.string() })),
  }),
  { status: undefined, proof: undefined, sent_back: [], proven: [] },
);

/** Returns what an event did to a proof; undefined if another sentence describes the event. */
export function provingIn<Of extends Change>(tool: string, changes: readonly Of[]): Proving<Of> | undefined {
  if (tool === 'system.undo') return undefined;
  for (const task of changes.filter(({ kind, after }) => kind === 'task' && after !== undefined)) {
    const found = verdictOf(fields.parse(task.before ?? {}), fields.parse(task.after), tool);
    if (found !== undefined) return { task, values: {}, ...found };
  }
  return undefined;
}

type Fields = z.output<typeof fields>;

type Found = Pick<Proving<unknown>, 'verdict'> & Partial<Pick<Proving<unknown>, 'values'>>;

function verdictOf(before: Fields, after: Fields, tool: string): Found | undefined {
  const correction = after.sent_back.at(-1);
  if (correction !== undefined) return { verdict: 'sentBack', values: { comments: correction.comments } };
  const { proof, proven, status } = after;
  if (proven.at(-1)?.step === 'waived') return { verdict: 'waived' };
  if (before.proof == null) {
    if (proof == null) return undefined;
    const round = String(proof.round);
    return proof.round === 1 ? { verdict: 'handedIn' } : { verdict: 'handedInAgain', values: { round } };
  }
  if (proven.length > 0 || (proof?.passed.length ?? 0) > before.proof.passed.length) return { verdict: 'approved' };
  return status === 'failed' && tool === 'inbox.answer' ? { verdict: 'gaveUp' } : undefined;
}
