import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import { type Given, optionalFields, optionalList, reading, textUpTo } from '../../../mcp/tool.ts';
import * as coordination from '../../coordination/index.ts';
import { type QueueCursor, queueStatus, type TaskQueueRequest } from '../rules/taskOverview.ts';
import { cursor, cursorAfter, defineTool, pageShape } from './systemPages.ts';

const MAX_TITLE_LENGTH = 80;

/** In the order of the network specification. */
const STATUSES = [
  'pending',
  'assigned',
  'in_progress',
  'blocked',
] as const satisfies readonly coordination.QueueStatus[];

const metadata = optionalFields({
  workspace: z.string(),
  priority: z.int().describe('1 (first) to 10 (last).'),
  files: z.array(z.string()),
  hints: z.string(),
  createdBy: z.string(),
  blockers: z.int().describe('Number of reasons why the task cannot be claimed yet.'),
  failedDependencies: z.array(z.string()),
  stuck: z.string().describe('Why the task can never start.'),
  waits: z.string().describe('The exhausted budget for which the task waits.'),
  retryAt: z.iso.datetime(),
  waitingFor: z.string().describe('The person for whose answer the task waits.'),
});

const taskShape = optionalFields({
  id: z.string(),
  type: z.string(),
  priority: z.string(),
  status: z.string(),
  title: z.string(),
  description: z.string(),
  requiredCapabilities: z.array(z.string()),
  assignedTo: z.string(),
  createdAt: z.iso.datetime(),
  deadline: z.iso.datetime().describe('Target completion time, if set.'),
  dependencies: z.array(z.string()),
  verifying: coordination.verifyingShape,
  metadata,
});

const statsShape = optionalFields({
  total: z.int(),
  pending: z.int(),
  assigned: z.int(),
  inProgress: z.int(),
  blocked: z.int(),
  avgWaitTime: z.number().describe('Average time from creation to first claim, in milliseconds.'),
  oldestTask: z.iso.datetime().describe('Creation time of the oldest open task.'),
});

function taskResponse(task: coordination.Task): Given<z.output<typeof taskShape>> {
  const { claim, status } = task;
  return {
    id: task.id,
    type: coordination.taskType(task),
    priority: coordination.priorityWord(task.priority),
    status: queueStatus(task),
    title: titleOf(task.description),
    description: task.description,
    requiredCapabilities: task.required_capabilities,
    assignedTo: coordination.isHeld(status) ? claim?.claimed_by : undefined,
    createdAt: task.created_at,
    deadline: task.deadline,
    dependencies: task.dependencies,
    verifying: coordination.verifyingResponse(task),
    metadata: {
      workspace: task.workspace,
      priority: task.priority,
      createdBy: task.created_by,
      files: optionalList(task.context.files),
      hints: task.context.hints,
      ...(task.blockers > 0 && { blockers: task.blockers }),
      failedDependencies: optionalList(task.failed_dependencies),
      stuck: coordination.stuckReason(task),
      waits: coordination.waitText(task),
      retryAt: task.retry_at,
      waitingFor: coordination.pendingQuestionOf(task)?.who,
    },
  };
}

function titleOf(description: string): string {
  const letters = [...(description.trim().split('\n')[0] ?? '')];
  return letters.length <= MAX_TITLE_LENGTH ? letters.join('') : `${letters.slice(0, MAX_TITLE_LENGTH - 1).join('')}…`;
}

export const getTaskQueue = defineTool({
  name: 'getTaskQueue',
  title: 'List the task queue',
  description: "Lists this workspace's open tasks: claimable ones in claim order, then blocked ones.",
  details:
    'With agentId: tasks that the agent holds or, with status pending, can claim. queueStats counts the whole queue, ignoring filters.',
  rare: ['includeAssigned', 'type'],
  input: z.strictObject({
    agentId: idOf('an agent').optional().describe('Tasks it holds or, with status pending, can claim'),
    priority: z.enum(coordination.PRIORITY_WORDS).optional().describe('critical 1-2, high 3-4, normal 5-6, low 7-10'),
    status: z.enum(STATUSES).optional().describe('Task status'),
    type: textUpTo(100)
      .optional()
      .describe(`${coordination.DEFAULT_TYPE}, ${coordination.CODING_TYPE}, or a type given at creation`),
    includeAssigned: z.boolean().default(false).describe('Include held tasks'),
    limit: z.int().min(1).max(100).default(20).describe('Maximum'),
    cursor,
  }),
  output: z.object({ tasks: z.array(taskShape), queueStats: statsShape, ...pageShape }),
  ...reading,
  example: { priority: 'critical', includeAssigned: true },
  handler: async ({ services, principal, workspace }, { cursor: at, ...input }) => {
    const { limit: _, ...filtered } = { ...input, workspace };
    const filters = JSON.stringify(filtered);
    const request: TaskQueueRequest = { ...input, workspace, after: queueCursorOf(filters, at) };
    const { page, stats } = await services.system.tasks.list(principal, request);
    const { tasks, truncated, next } = page;
    const { averageWaitMilliseconds: wait, oldestTask, ...counts } = stats;
    return {
      tasks: tasks.map(taskResponse),
      queueStats: { ...counts, avgWaitTime: wait === undefined ? undefined : Math.round(wait), oldestTask },
      truncated,
      nextCursor: next && cursorOf(filters, next),
    };
  },
});

/** Cursor value for the first task of a state. */
const FIRST_CURSOR = 'beginning';

function cursorOf(filters: string, { status, place }: QueueCursor): string {
  const state = coordination.QUEUE_STATUSES.indexOf(status);
  return encodeCursor(filters, { order: [state, ...(place?.order ?? [])], id: place?.id ?? FIRST_CURSOR });
}

function queueCursorOf(filters: string, encoded: string | undefined): QueueCursor | undefined {
  const decoded = cursorAfter(filters, encoded);
  const [state, ...order] = decoded?.order ?? [];
  const status = state === undefined ? undefined : coordination.QUEUE_STATUSES[state];
  if (decoded === undefined || status === undefined) return undefined;
  return { status, ...(order.length > 0 && { place: { order, id: decoded.id } }) };
}
