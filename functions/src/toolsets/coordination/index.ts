import type { Toolset } from '../../mcp/tool.ts';
import { addDiscovery } from './add_discovery.ts';
import { claimTask } from './claim_task.ts';
import { completeTask } from './complete_task.ts';
import { createTask } from './create_task.ts';
import { createTasksBatch } from './create_tasks_batch.ts';
import { failTask } from './fail_task.ts';
import { getAllTasks } from './get_all_tasks.ts';
import { getDiscoveries } from './get_discoveries.ts';
import { getMasterPlan } from './get_master_plan.ts';
import { getResults } from './get_results.ts';
import { getStatus } from './get_status.ts';
import { heartbeat } from './heartbeat.ts';
import { initCoordination } from './init_coordination.ts';
import { registerAgent } from './register_agent.ts';
import { resources } from './resources.ts';
import { startTask } from './start_task.ts';

/** Teams of agents on one task graph. Source: spec/coordination.md, in its order. */
export const coordination: Toolset = {
  name: 'coordination',
  instructions:
    'Work a shared task graph. A leader calls init_coordination, then create_tasks_batch. A worker calls register_agent, then claim_task, start_task and complete_task or fail_task until claim_task has no more.',
  tools: [
    initCoordination,
    createTask,
    createTasksBatch,
    getStatus,
    getAllTasks,
    getResults,
    registerAgent,
    claimTask,
    startTask,
    completeTask,
    failTask,
    heartbeat,
    addDiscovery,
    getDiscoveries,
    getMasterPlan,
  ],
  resources,
};
