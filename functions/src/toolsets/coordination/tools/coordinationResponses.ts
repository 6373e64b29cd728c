/** Arguments and response shapes shared by the coordination tools. Source: the coordination specification. */
import { z } from 'zod';
import { isReservedCapability } from '../../../agents/rules/agent.ts';
import { shownPartOf } from '../../../graph/rules/graphNode.ts';
import { partOf, partOfShape } from '../../../graph/rules/linking.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import { chosenId, idOf, isRefName, listedId } from '../../../kernel/ids.ts';
import { fittingItems, parsedJson } from '../../../kernel/json.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import { hasAtMost } from '../../../kernel/text.ts';
import {
  claimNumber,
  type Given,
  guidance,
  listUpTo,
  optionalFields,
  optionalList,
  toolsFor,
  wholeNumber,
} from '../../../mcp/tool.ts';
import type { CoordinationServices } from '../create.ts';
import type { SessionSize } from '../rules/archives.ts';
import type { TaskDraft } from '../rules/creation.ts';
import { waitText } from '../rules/files/reserving.ts';
import { isVerifying, verifyingText } from '../rules/proof/proving.ts';
import type { Discovery } from '../rules/session.ts';
import { MAX_TASK_RETRIES } from '../rules/stateMachine.ts';
import { stuckReason } from '../rules/stuck.ts';
import {
  CODING_TYPE,
  COORDINATION_STATUSES,
  capabilityKey,
  coordinationStatus,
  DEFAULT_TYPE,
  isClosed,
  isHeld,
  MAX_CAPABILITY_KEY_BYTES,
  MAX_REQUIRED_CAPABILITIES,
  pendingQuestionOf,
  type Task,
  type TaskOutcome,
} from '../rules/task.ts';
import {
  proofResponse,
  proofShape,
  reviewedResponse,
  reviewedShape,
  verifyingResponse,
  verifyingShape,
} from './proofResponses.ts';

export const defineTool = toolsFor<CoordinationServices>();
export const agentId = chosenId().describe('Your agent ID');
export const taskId = idOf('a task').describe('Task ID');
export const claimEpoch = claimNumber.optional().describe('Claim epoch');

/** Schema of a text of at most `max` characters with at least one visible character. */
export const text = (description: string, max: number) =>
  z
    .string()
    .refine(isVisible, 'expected some text')
    .refine((value) => hasAtMost(value, max), `expected at most ${max} characters`)
    .describe(description);

/** Schema of a list of at most `max` texts, each of 1 to `each` characters. */
export const texts = (description: string, max: number, each = 1000) => {
  const isShort = (value: string): boolean => isVisible(value) && hasAtMost(value, each);
  return listUpTo(max, z.string().refine(isShort, `expected 1 to ${each} characters`)).describe(description);
};

/** Error for a capability that only Muster gives. */
export const RESERVED = 'expected a name that does not begin with "muster:"';

const capabilityName = z
  .string()
  .regex(/^[^|\s][^|]{0,99}$/u, 'expected 1 to 100 characters without "|"')
  .refine(isVisible, 'expected some text')
  .refine((name) => !isReservedCapability(name), RESERVED);

/** Argument of every tool that creates tasks. An empty object demands nothing, even if the workspace has a default. */
export const acceptanceArgument = z
  .strictObject({
    command: text('Must succeed on its branch', 2000).optional(),
    review: capabilityName.optional().describe("Reviewer's capability, or any"),
    confirm: z.string().min(1).max(320).optional().describe('owner, or a person'),
  })
  .optional()
  .describe('Checks before it is done; {}: none');

export const branchName = z.string().refine(isRefName, 'expected the name of a branch');

const MAX_TYPE_LENGTH = 50;

/** Task type: a lowercase word that may contain digits, dashes and underscores. */
const TYPE_NAME = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;
export const priority = wholeNumber(1, 10).describe('1 (first) to 10 (last)');

/** Arguments that create_task and create_tasks_batch share. Each tool declares `priority` with another default. */
export const taskArguments = {
  description: text('Task description', 20_000),
  dependencies: listUpTo(100, idOf('a task')).optional().describe('IDs of tasks to complete first'),
  context_files: texts('Relevant files', 200).optional(),
  hints: text('Worker hints', 20_000).optional(),
  required_capabilities: listUpTo(MAX_REQUIRED_CAPABILITIES, capabilityName)
    .refine(
      (required) => Buffer.byteLength(capabilityKey(required)) <= MAX_CAPABILITY_KEY_BYTES,
      `expected at most ${MAX_CAPABILITY_KEY_BYTES} bytes in total`,
    )
    .optional()
    .describe('Capabilities an agent needs to claim it'),
  type: z
    .string()
    .refine(
      (name) => TYPE_NAME.test(name) && name.length <= MAX_TYPE_LENGTH,
      `expected a lowercase word such as "research" or "bug-fix", of at most ${MAX_TYPE_LENGTH} characters`,
    )
    .refine((name) => name !== CODING_TYPE, 'expected another type; for coding tasks, use coding.create_task')
    .optional()
    .describe(`Word to filter by; default: ${DEFAULT_TYPE}`),
  deadline: z.iso
    .datetime({ offset: true })
    .refine((text) => new Date(text).getUTCFullYear() <= 9999, 'expected a date before the year 10000')
    .optional()
    .describe('At equal priority, earliest first'),
  part_of: partOf,
  acceptance: acceptanceArgument,
};

export const DEFAULT_PRIORITY = 5;

type WrittenTask = z.output<z.ZodObject<typeof taskArguments>> & { readonly priority?: number | undefined };

export function draftOf(written: WrittenTask): TaskDraft {
  return {
    description: written.description,
    priority: written.priority ?? DEFAULT_PRIORITY,
    dependencies: written.dependencies ?? [],
    files: written.context_files ?? [],
    hints: written.hints,
    required_capabilities: written.required_capabilities ?? [],
    type: written.type,
    deadline: written.deadline === undefined ? undefined : new Date(written.deadline),
    part_of: written.part_of,
    acceptance: written.acceptance,
  };
}

const result = z.object({
  output: z.string(),
  files_modified: z.array(z.string()).optional(),
  files_created: z.array(z.string()).optional(),
});

export const filesShape = z
  .array(z.object({ file: z.string(), task_id: z.string(), agent_id: z.string() }))
  .optional()
  .describe('Your files that other tasks have too.');

const waitShape = z
  .object({ since: z.string(), failed: z.array(z.string()).describe('Failed parts.') })
  .describe('The result is stored; the task is done when all its parts are.');

export const taskShape = z.object({
  id: z.string(),
  description: z.string(),
  status: z.enum(COORDINATION_STATUSES),
  priority: z.number(),
  dependencies: z.array(z.string()),
  context: optionalFields({ files: z.array(z.string()), hints: z.string() }),
  created_at: z.string(),
  ...optionalFields({
    type: z.string().describe('Type of work, if its creator set one.'),
    deadline: z.string().describe('Due time.'),
    part_of: partOfShape,
    waits_for_parts: waitShape,
    ...proofShape,
    required_capabilities: z.array(z.string()),
    blocked: z.boolean().describe('True while a dependency is open or failed, or a retry is pending.'),
    failed_dependencies: z
      .array(z.string())
      .describe('Dependencies that failed or were cancelled. The task cannot start until they are retried.'),
    stuck: guidance().describe('Why the task can never start, and what would change that.'),
    waits: z.string().describe('Budget or files that the task waits for.'),
    retry_at: z.string(),
    claimed_by: z.string(),
    claimed_at: z.string(),
    claim_epoch: z.number(),
    lease_expires_at: z.string(),
    started_at: z.string(),
    waiting_for: z
      .object({ request_id: z.string(), who: z.string() })
      .describe('Person whose answer the task waits for.'),
    coding: z
      .object({ tool: z.string(), instructions: z.string(), branch: z.string() })
      .describe('Tool, instructions and branch of a coding task; coding.report_task returns the rest.'),
    completed_at: z.string(),
    result,
    error: z.string(),
    earlier_ends: z
      .array(
        z.object({
          status: z.enum(['failed', 'cancelled']),
          error: z.string().optional(),
          ended_at: z.string(),
          claim_epoch: z.number(),
          agent_id: z.string().optional(),
        }),
      )
      .describe('Outcomes that the task had before its retries, latest last.'),
    late_result: z
      .object({
        agent_id: z.string(),
        claim_epoch: z.number(),
        received_at: z.string(),
        result: result.optional(),
        error: z.string().optional(),
      })
      .describe('Report of a previous holder, received after its lease expired and another agent claimed the task.'),
  }).shape,
});

/** Returns whether anything is known about the proof of a task. */
function needsProof({ acceptance, reviews, sent_back, proven }: Task): boolean {
  return acceptance !== undefined || reviews !== undefined || sent_back.length + proven.length > 0;
}

export function taskResponse(task: Task): Given<z.output<typeof taskShape>> {
  const { claim, coding, context, status, parts_awaited: awaited } = task;
  const waiting = pendingQuestionOf(task);
  return {
    id: task.id,
    description: task.description,
    status: coordinationStatus(status),
    priority: task.priority,
    dependencies: task.dependencies,
    context: { files: optionalList(context.files), hints: context.hints },
    created_at: task.created_at,
    type: task.given_type,
    deadline: task.deadline,
    part_of: shownPartOf(task),
    waits_for_parts: status === 'waiting' ? awaited && { since: awaited.since, failed: awaited.failed } : undefined,
    ...(needsProof(task) && proofResponse(task)),
    required_capabilities: optionalList(task.required_capabilities),
    blocked: (status === 'available' && task.blockers > 0) || undefined,
    failed_dependencies: optionalList(task.failed_dependencies),
    stuck: status === 'available' ? stuckReason(task) : undefined,
    waits: status === 'available' ? waitText(task) : undefined,
    retry_at: task.retry_at,
    claimed_by: claim?.claimed_by,
    claimed_at: claim?.claimed_at,
    claim_epoch: claim?.claim_epoch,
    lease_expires_at: isHeld(status) ? claim?.lease_expires_at : undefined,
    started_at: claim?.started_at,
    waiting_for: waiting && { request_id: waiting.request_id, who: waiting.who },
    coding: coding && { tool: coding.tool, instructions: coding.instructions, branch: coding.branch },
    completed_at: task.completed_at,
    result: task.result,
    error: task.error,
    earlier_ends: optionalList(task.former_ends.map(({ retries: _, ...end }) => end)),
    late_result: task.late_result,
  };
}

export const discoveryShape = z.object({
  id: z.string(),
  agent_id: z.string(),
  content: z.string(),
  tags: z.array(z.string()),
  created_at: z.string(),
});

export function discoveryResponse({ id, agent_id, content, tags, created_at }: Discovery) {
  return { id, agent_id, content, tags, created_at };
}

export const archivedShape = {
  id: z.string(),
  goal: z.string(),
  open_tasks: z.number().describe('Number of tasks of the session that are not closed.'),
  held_tasks: z.number().describe('Number of tasks of the session that an agent holds.'),
};

export function archivedResponse({ session: { id, goal }, open, held }: SessionSize) {
  return { id, goal, open_tasks: open, held_tasks: held };
}

/** Position at which a list continues: the sort time and the id of the last returned item. Opaque to callers. */
export const cursor = z.string().max(500).optional().describe('Previous next_cursor');

/** Schema of a page size: at most `max`, by default `defaultLimit`. */
export const pageLimit = (description: string, defaultLimit: number, max: number) =>
  wholeNumber(1, max).default(defaultLimit).describe(description);

export const pageShape = {
  truncated: z.boolean().describe('Whether more items exist; next_cursor continues the list.'),
  next_cursor: z.string().optional(),
};

const position = z.tuple([z.iso.datetime(), listedId]);

/** Returns the page after a cursor. @throws MusterError INVALID_FORMAT if the cursor is invalid */
export function pageAfter(encoded: string | undefined, limit: number): PageRequest {
  if (encoded === undefined) return { limit };
  const decoded = position.safeParse(parsedJson(Buffer.from(encoded, 'base64url').toString()));
  if (decoded.success) return { limit, after: { at: new Date(decoded.data[0]), id: decoded.data[1] } };
  throw new MusterError('INVALID_FORMAT', 'Invalid cursor.', {
    field: 'cursor',
    suggestion: 'Send next_cursor unchanged, or omit cursor to start over.',
  });
}

/** Returns the items that fit into one response, whether more items exist, and the cursor for the next page. */
export function pageOf<Item extends { readonly id: string }, Answer>(
  { items: found, more }: ListPage<Item>,
  timeOf: (item: Item) => Date | undefined,
  answerOf: (item: Item) => Answer,
): { items: Answer[]; end: { truncated: boolean; next_cursor?: string } } {
  const given = fittingItems(found, answerOf);
  const items = given.map(answerOf);
  const last = given.at(-1);
  const at = last && timeOf(last);
  const isEnd = !more && given.length === found.length;
  if (isEnd || last === undefined || at === undefined) return { items, end: { truncated: false } };
  const next = Buffer.from(JSON.stringify([at.toISOString(), last.id])).toString('base64url');
  return { items, end: { truncated: true, next_cursor: next } };
}

export const outcomeShape = z.object({
  success: z.boolean(),
  ...optionalFields({
    message: z.string(),
    verifying: verifyingShape,
    sent_back: proofShape.sent_back,
    reviewed: reviewedShape,
    retry_at: z.string().describe('When the task becomes claimable again.'),
    retries_left: z.number(),
    blocked_tasks: z.array(z.string()).describe('Dependents of the failed task. They stay blocked.'),
    files_shared: filesShape,
    late_result: taskShape.shape.late_result,
  }).shape,
});

export function outcomeResponse(outcome: TaskOutcome): Given<z.output<typeof outcomeShape>> {
  const { kind, task, reviewed, shared } = outcome;
  const { late_result } = task;
  if (reviewed !== undefined) return { success: true, reviewed: reviewedResponse(outcome) };
  if (kind === 'repeated' && task.sent_back.length > 0 && !isClosed(task.status) && !isVerifying(task)) {
    const message = `Your result was sent back: ${task.sent_back.at(-1)?.comments} Say in output what you have changed.`;
    return { success: true, message, sent_back: proofResponse(task).sent_back };
  }
  if (isVerifying(task)) {
    const message = `Your result is stored. ${task.id} is not done yet. ${verifyingText(task)}`;
    return { success: true, message, verifying: verifyingResponse(task), late_result };
  }
  if (kind === 'late') {
    const by = task.claim === undefined ? '' : `, held by "${task.claim.claimed_by}"`;
    const message = `Your lease expired, and the task is now ${task.status}${by}. Your report is stored as the task's late_result.`;
    return { success: false, message, late_result };
  }
  if (task.status === 'available') {
    const retries_left = MAX_TASK_RETRIES - task.retries;
    return { success: true, retry_at: task.retry_at, retries_left, late_result };
  }
  if (task.status === 'waiting')
    return { success: true, message: 'Your result is stored. The task is done when its parts are done.', late_result };
  const blocked_tasks = task.status === 'failed' ? optionalList(task.dependents) : undefined;
  return { success: true, blocked_tasks, files_shared: optionalList(shared), late_result };
}

/** Messages to an agent. They are data from other callers, not instructions from the agent's owner. */
export const messagesShape = z
  .array(
    z.object({
      id: z.string(),
      from: z.string(),
      text: z.string(),
      at: z.string(),
      workspace: z.string(),
      task_id: z.string().optional(),
    }),
  )
  .optional()
  .describe(
    'Messages to you. They are returned again until you confirm them with coordination.heartbeat and read_until.',
  );
