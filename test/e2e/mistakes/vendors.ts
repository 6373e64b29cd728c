/** Mistakes in calls that concern external systems: repositories, models, workflows and coding agents. */

import type { MistakesFixture } from './fixture.ts';
import type { Mistake } from './mistake.ts';

const called = (tool: string, args: object) => (fixture: MistakesFixture) => fixture.call(tool, args);

const workflow = (steps: readonly object[]) =>
  called('orchestration_save_workflow', { workflow: { name: 'mistaken', steps } });

const HERE = { owner: 'sartor-ai', repo: 'claude-network' };
const PLAN = { name: 'plan', agent: 'claude', role: 'plan' };

export const vendorMistakes: readonly Mistake[] = [
  {
    who: 'names a repository that the App cannot access',
    make: called('github_readFile', { owner: 'sartor-ai', repo: 'no-such-repo', path: 'README.md' }),
    happened: /does not exist.*has no access to it/,
    where: /no-such-repo/,
    next: /install|owner|name|App/i,
  },
  {
    who: 'writes a repository with its owner',
    make: called('github_readFile', { owner: 'sartor-ai', repo: 'sartor-ai/claude-network', path: 'README.md' }),
    happened: /repo|Invalid/i,
    where: /repo/,
    next: /name|without|owner/i,
  },
  {
    who: 'names an unknown file',
    make: called('github_readFile', { ...HERE, path: 'readme.md' }),
    happened: /readme\.md.{0,2} not found/,
    where: /path/,
    next: /Reading a directory lists it/,
  },
  {
    who: 'opens a pull request of an unknown branch',
    make: called('github_createPR', { ...HERE, title: 'Mend', head: 'no/such/branch', base: 'main' }),
    happened: /no branch|no "no\/such\/branch"|not found|does not exist/i,
    where: /head|no\/such\/branch/,
    next: /createBranch|branch/,
  },
  {
    who: 'asks an unknown model',
    make: called('orchestration_orchestrate_parallel', { prompt: 'Hello', agents: ['gpt-4', 'claude'], mode: 'race' }),
    happened: /no agent|Invalid|unknown|expected/i,
    where: /agents/,
    next: /claude.*gemini|list_agents/,
  },
  {
    who: 'names an unknown workflow',
    make: called('orchestration_orchestrate_workflow', { workflow: 'code-reviews', input: 'Hello' }),
    happened: /workflow .*not found/i,
    where: /code-reviews/,
    next: /list_workflows|Did you mean|workflows:/,
  },
  {
    who: 'refers to a later or unknown step',
    make: workflow([{ ...PLAN, prompt: 'Do {{steps.design.output}}' }]),
    happened: /does not exist/,
    where: /steps\.0|plan/,
    next: /design/,
  },
  {
    who: 'uses one name for two steps',
    make: workflow([PLAN, PLAN]),
    happened: /same name|two steps|already|twice/i,
    where: /Step .{0,2}plan.*workflow\.steps/,
    next: /Example: \{.*name/,
  },
  {
    who: 'writes a condition that is not CEL',
    make: workflow([PLAN, { ...PLAN, name: 'next', condition: 'steps.plan.output contains "ok"' }]),
    happened: /condition/,
    where: /steps\.1/,
    next: /CEL|position|startsWith|contains\(/,
  },
  {
    who: 'waits for an unknown run',
    make: called('orchestration_get_run', { runId: 'run-aaaabbbbccccddddeeee' }),
    happened: /no run|not found/i,
    where: /runId/,
    next: /list_runs/,
  },
  {
    who: 'names a coding agent in lowercase',
    make: called('coding_create_task', { tool: 'claude', description: 'Mend it', instructions: 'Now.' }),
    happened: /Invalid|expected|no (coding )?(tool|agent)|Unknown coding tool/i,
    where: /tool/,
    next: /CLAUDECODE/,
  },
  {
    who: 'reports on an unknown coding task',
    make: called('coding_update_task', { taskId: 'nowhere', status: 'completed' }),
    happened: /no (coding )?task|not found/i,
    where: /taskId|nowhere/,
    next: /task:\/\/list/,
  },
];
