import type { Toolset } from '../../mcp/tool.ts';
import { appendLogs } from './append_logs.ts';
import { claimTask } from './claim_task.ts';
import { createTask } from './create_task.ts';
import { endTask } from './end_task.ts';
import { getTaskLogs } from './get_task_logs.ts';
import { heartbeatTask } from './heartbeat_task.ts';
import { registerRunner } from './register_runner.ts';
import { reportTask } from './report_task.ts';
import { resources, templates } from './resources.ts';
import { updateTask } from './update_task.ts';

/** Coding agents at work on branches. Source: spec/coding.md, in its order; then what runners use. */
export const coding: Toolset = {
  name: 'coding',
  instructions:
    'Have coding agents work on branches: create_task, then report_task or task://{taskId} until it is completed or failed; end_task stops it. What runners call, and get_task_logs, is listed at /mcp/coding.',
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
};
