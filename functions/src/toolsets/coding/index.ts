import { z } from 'zod';
import type { ErrorEnvelope, Toolset } from '../../mcp/tool.ts';
import type { CodingServices } from './create.ts';
import { prompts } from './prompts.ts';
import { resources, templates } from './resources.ts';
import { createTask, getTaskLogs, updateTask } from './tools/tasks.ts';
import { appendLogs, claimTask, endTask, heartbeatTask, registerRunner, reportTask } from './tools/work.ts';

/** Format of error responses. Source: the coding specification, "Tool Response Format". */
const errorEnvelope: ErrorEnvelope = {
  show: ({ code, message }, { entries: _entries, ...details }) => ({
    status: 'error',
    message,
    error: { type: code, details },
  }),
  schema: z.object({
    status: z.enum(['success', 'error']),
    message: z.string(),
    error: z.object({ type: z.string(), details: z.record(z.string(), z.unknown()) }),
  }),
};

/** Toolset for coding agents that work on branches. The specification's tools come first, then those of runners. */
export const coding: Toolset<CodingServices> = {
  name: 'coding',
  instructions:
    'Run coding agents on branches: coding.create_task, then coding.report_task or task://{taskId} until it is completed or failed; coding.end_task stops it. Tools for runners: /mcp/coding.',
  tools: [
    createTask,
    updateTask,
    endTask,
    reportTask,
    registerRunner,
    claimTask,
    appendLogs,
    heartbeatTask,
    getTaskLogs,
  ],
  resources,
  templates,
  prompts,
  errors: errorEnvelope,
};
