import { z } from 'zod';
import { promptArgument } from '../../../mcp/prompt.ts';
import { definePrompt } from './taskArguments.ts';

export const plan = definePrompt({
  name: 'plan',
  title: 'Plan a goal',
  description: 'Splits a goal into tasks for the team, and creates them after you agree.',
  writes: true,
  input: z.strictObject({ goal: promptArgument('Goal', 'Result that the team must reach') }),
  text: `Plan the goal below for a team of agents:
1. Call coordination.get_status. If another goal is in progress, ask the user whether to replace it.
2. Propose a plan and tasks. Each task must be small enough for one agent to do it in one session without help. State in each description when the task is done and which files it changes. List the dependencies of each task.
3. Show the proposal to the user, and wait until the user agrees.
4. Set the goal with coordination.init_coordination {goal, master_plan}. Then create the tasks with coordination.create_tasks_batch.`,
});
