/** The functions of the deployment. */
export { mcp } from './entry/http/mcp.ts';
export { sweep } from './entry/schedules/sweep.ts';
export { mirrorTaskQueue } from './entry/triggers/mirrorTaskQueue.ts';
