/** Requirements of a workspace for the results of its tasks. Source: docs/decisions/0061-done-means-proven.md. */
import { z } from 'zod/mini';
import type { documentCodec } from '../../kernel/documentCodec.ts';

/** Requirements that a result must meet before its task is done. Each step starts after the step before it has passed. */
export const requirements = {
  /** Command that must succeed on the task's branch. */
  command: z.exactOptional(z.string()),
  /** Capability that the reviewer must have; `any` for none. */
  review: z.exactOptional(z.string()),
  /** Uid of the person who must confirm the result; `owner` for the owner of the task. */
  confirm: z.exactOptional(z.string()),
};

/** Ways in which the requirements of a task are checked. */
const manner = {
  /** Maximum number of times that a result is sent back before a person is asked. */
  rounds: z.int(),
  /** Maximum time of each command run and review. */
  hours: z.int(),
  /** Consequence if a check brings no verdict: a person is asked, or the task fails. */
  otherwise: z.enum(['ask', 'fail']),
  /** Whether terminals of the author's credential may review. */
  terminals: z.boolean(),
};

export const acceptance = z.object({ ...requirements, ...manner });
export type Acceptance = Read<typeof acceptance>;

/** The requirements as a caller sends them. */
export type Requirements = { readonly [Name in keyof typeof requirements]?: string | undefined };
type Read<Schema extends z.core.$ZodObject> = ReturnType<ReturnType<typeof documentCodec<Schema>>['fromDocument']>;

export const proofSettings = z.object({
  /** Requirements of new tasks that name none. The first that fits the task's type counts; without a type, it fits all. */
  defaults: z.array(z.object({ ...requirements, type: z.exactOptional(z.string()) })),
  ...manner,
  /** Maximum time that a task waits for files that other tasks hold; 0: files are reserved, but never waited for. */
  file_wait_minutes: z.int(),
});
export type ProofSettings = Read<typeof proofSettings>;

export const DEFAULT_PROOF: ProofSettings = {
  defaults: [],
  rounds: 3,
  hours: 24,
  otherwise: 'ask',
  terminals: false,
  file_wait_minutes: 10,
};

/** Returns what a new task must fulfil. @param wanted of its creator; if undefined, the first default that fits */
export function acceptanceOf(
  { defaults, rounds, hours, otherwise, terminals }: ProofSettings,
  type: string,
  wanted: Requirements | undefined,
): Acceptance | undefined {
  const fitting = defaults.find((one) => one.type === undefined || one.type === type);
  const { command, review, confirm } = wanted ?? fitting ?? {};
  if (demandsNothing({ command, review, confirm })) return undefined;
  return {
    ...(command !== undefined && { command }),
    ...(review !== undefined && { review }),
    ...(confirm !== undefined && { confirm }),
    rounds,
    hours,
    otherwise,
    terminals,
  };
}

export function demandsNothing({ command, review, confirm }: Requirements): boolean {
  return command === undefined && review === undefined && confirm === undefined;
}
