/**
 * The tasks extension of revision 2026-07-28. A task is a run or a coding task, so its id is theirs, and any instance
 * can respond. Source: https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html;
 * docs/decisions/0058-tasks-prompts-traces.md.
 */
import {
  INVALID_PARAMS,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ERROR_CODES, MusterError, shownName } from '../../kernel/errors.ts';
import { DAY_MS } from '../../kernel/ports.ts';
import { actorOf, type CallPorts, callTool, type ReadTask, readTask } from '../call.ts';
import type { McpTaskState } from '../callContext.ts';
import type { RoutedRequest } from '../catalog.ts';
import type { FoundTool } from '../tool.ts';
import { errorObject, type Outcome } from '../toolResponse.ts';
import { type ModernCall, questionShower, responseTo, supportsExtension } from './elicitation.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const TASK = z.looseObject({ taskId: z.string() });

export const supportsTasks = (call: ModernCall): boolean => supportsExtension(call, TASKS_EXTENSION);

/** @throws ProtocolError if the client does not support tasks */
export function requireTasks(call: ModernCall): void {
  if (supportsTasks(call)) return;
  const extensions = { [TASKS_EXTENSION]: {} };
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions } });
}

/** Returns the fields of a task, as in the response to the call that started it. */
export function taskFields(
  { keepDays }: CallPorts,
  { id, status, message, createdAt, changedAt, kept, pollMs }: McpTaskState,
) {
  return {
    taskId: id,
    status: status === 'ended' ? 'completed' : status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: changedAt.toISOString(),
    // The work is kept even longer, because its retention begins when it ends. 0 days mean forever.
    ttlMs: keepDays[kept] * DAY_MS || null,
    pollIntervalMs: pollMs,
  };
}

/** @param resultOf returns the `tools/call` result that a call of the tool gets */
export function serveTasks(
  server: Server,
  ports: CallPorts,
  { requestContext, selected }: RoutedRequest,
  resultOf: (found: FoundTool, outcome: Outcome) => Readonly<Record<string, unknown>>,
): void {
  const read = async (id: string, call: ModernCall): Promise<ReadTask & { readonly found: FoundTool }> => {
    requireTasks(call);
    const found = selected.findTask(id);
    if (found === undefined) throw unknownTask(id);
    try {
      return { found, ...(await readTask(ports, requestContext, found, id)) };
    } catch (error) {
      throw taskError(id, error);
    }
  };
  server.setRequestHandler('tasks/get', { params: TASK }, async ({ taskId }, { mcpReq }) => {
    const { found, state, outcome, questions } = await read(taskId, mcpReq);
    const fields = taskFields(ports, state);
    if (outcome !== undefined)
      // An unexpected error is one of the protocol. Any other error is the result of the tool.
      return 'error' in outcome && outcome.error.code === 'INTERNAL'
        ? { ...fields, status: 'failed', error: errorObject(outcome.error) }
        : { ...fields, result: { resultType: 'complete', ...resultOf(found, outcome) } };
    const show = questionShower(mcpReq);
    const inputRequests = [...questions].flatMap(([id, question]) => {
      const request = show?.(question);
      return request === undefined ? [] : [[id, request] as const];
    });
    if (inputRequests.length === 0) return fields;
    return { ...fields, status: 'input_required', inputRequests: Object.fromEntries(inputRequests) };
  });
  // The SDK moves the answers from the params to the context.
  server.setRequestHandler('tasks/update', { params: TASK }, async ({ taskId }, { mcpReq }) => {
    const { questions } = await read(taskId, mcpReq);
    const record = { by: actorOf(requestContext, 'tasks/update') };
    for (const id of questions.keys()) {
      const response = responseTo(id, mcpReq);
      if (response !== undefined) await ports.questions.shown(requestContext.principal, id, response, record);
    }
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: TASK }, async ({ taskId }, { mcpReq }) => {
    const { state } = await read(taskId, mcpReq);
    if (state.status !== 'working') return {};
    const { tool, args } = state.cancel;
    const found = selected.findTool(tool);
    if (found === undefined) throw new ProtocolError(ERROR_CODES.FORBIDDEN, `This URL does not include ${tool}.`);
    const outcome = await callTool(ports, requestContext, found, { args });
    // If the work has ended in the meantime, there is nothing to cancel.
    if ('error' in outcome && outcome.error.code !== 'CONFLICT') throw taskError(taskId, outcome.error);
    return {};
  });
}

const unknownTask = (id: string) => new ProtocolError(INVALID_PARAMS, `Unknown task: ${shownName(id)}`);

function taskError(id: string, error: unknown): unknown {
  if (!(error instanceof MusterError)) return error;
  return error.code === 'NOT_FOUND' ? unknownTask(id) : new ProtocolError(ERROR_CODES[error.code], error.message);
}
