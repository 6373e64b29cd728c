/** Responses about the proof of a task's result. Source: docs/guides/proof.md. */
import { z } from 'zod';
import { optionalFields, optionalList } from '../../../mcp/tool.ts';
import { verifyingText } from '../rules/proof/proving.ts';
import { coordinationStatus, isHeld, type Task, type TaskOutcome } from '../rules/task.ts';

export const requirementsShape = z.object({
  command: z.string().optional().describe('Command that must succeed on its branch.'),
  review: z.string().optional().describe('Capability that the reviewer must have, or any.'),
  confirm: z.string().optional().describe('Uid of the person who must confirm it, or owner.'),
});

export const verifyingShape = z.object({
  step: z.string().describe('command, review or person.'),
  round: z.number(),
  of_rounds: z.number(),
  since: z.string(),
  until: z.string().optional(),
  check: z.string().optional().describe('Id of the review, the command run or the question.'),
  waits: z.string().describe('What the task waits for.'),
});

const correctionShape = z.object({
  round: z.number(),
  at: z.string(),
  by: z.string(),
  step: z.string(),
  comments: z.string(),
  times: z.number(),
});

const passedShape = z.object({
  step: z.string().describe('command, review, person, waived or merged.'),
  by: z.string(),
  at: z.string(),
  commit: z.string().optional(),
});

/** Fields of every response with a task. */
export const proofShape = optionalFields({
  acceptance: requirementsShape.describe('What must be true of its result before it is done.'),
  verifying: verifyingShape.describe('The result is handed in, and is being checked.'),
  sent_back: z.array(correctionShape).describe('Corrections that were requested, latest last.'),
  proven: z.array(passedShape).describe('Steps by which its result was proven.'),
  reviews: optionalFields({ task_id: z.string(), round: z.number(), branch: z.string(), commit: z.string() }).describe(
    'For a review or command run: the task that it checks.',
  ),
}).shape;

export function verifyingResponse(task: Task) {
  const { proof, acceptance, proof_until: until } = task;
  const waits = verifyingText(task);
  if (proof === undefined || waits === undefined) return undefined;
  const { step, round, since, check } = proof;
  const of_rounds = acceptance?.rounds ?? round;
  return { step, round, of_rounds, since, until, check, waits };
}

export function proofResponse(task: Task) {
  const { acceptance, sent_back, proven, reviews } = task;
  const { command, review, confirm } = acceptance ?? {};
  return {
    acceptance: acceptance && { command, review, confirm },
    verifying: verifyingResponse(task),
    sent_back: optionalList(
      sent_back.map(({ round, at, by, step, comments, times }) => ({ round, at, by, step, comments, times })),
    ),
    proven: optionalList(proven),
    reviews: reviews && {
      task_id: reviews.task_id,
      round: reviews.round,
      branch: reviews.branch,
      commit: reviews.commit,
    },
  };
}

export const reviewedShape = optionalFields({ task_id: z.string(), status: z.string(), message: z.string() }).describe(
  'The task that the verdict was given on.',
);

/** Returns what the verdict of a review did. A repeated report is answered from the current state of the task. */
export function reviewedResponse({ kind, task: { reviews }, reviewed }: TaskOutcome): z.output<typeof reviewedShape> {
  const task_id = reviewed?.task?.id ?? reviews?.task_id;
  const task = reviewed?.task;
  if (task === undefined) return { task_id, message: 'The task no longer exists.' };
  const status = coordinationStatus(task.status);
  if (kind === 'accepted' && reviewed?.isLate)
    return { task_id, status, message: 'Your verdict came too late: the task no longer waits for this review.' };
  return { task_id, status, message: stateText(task) };
}

function stateText(task: Task): string {
  const { id, status, claim, error } = task;
  const verifying = verifyingText(task);
  if (verifying !== undefined) return `${id} is not done yet. ${verifying}`;
  if (status === 'done') return `${id} is done.`;
  if (isHeld(status) && claim !== undefined) return `${id} is back with "${claim.claimed_by}".`;
  return status === 'available' ? `${id} is back in the queue.` : `${id} is ${status}. ${error ?? ''}`;
}
