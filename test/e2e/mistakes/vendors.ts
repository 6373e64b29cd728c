/** Mistakes in calls that concern external systems: repositories, models, workflows and coding agents. */
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

const called = (tool: string, args: object) => (fixture: MistakesFixture) => fixture.call(tool, args);

const workflow = (steps: readonly object[]) =>
  called('orchestration_save_workflow', { workflow: { name: 'mistaken', steps } });

const HERE = { owner: 'sartor-ai', repo: 'claude-network' };
const PLAN = { name: 'plan', agent: 'claude', role: 'plan' };

export const vendorMistakes: readonly Mistake[] = [
  mistake(
    'names a repository that the App cannot access',
    called('github_readFile', { owner: 'sartor-ai', repo: 'no-such-repo', path: 'README.md' }),
    { happened: /does not exist.*has no access to it/, where: /no-such-repo/, next: /install|owner|name|App/i },
  ),
  mistake(
    'writes a repository with its owner',
    called('github_readFile', { owner: 'sartor-ai', repo: 'sartor-ai/claude-network', path: 'README.md' }),
    { happened: /repo|Invalid/i, where: /repo/, next: /name|without|owner/i },
  ),
  mistake('names an unknown file', called('github_readFile', { ...HERE, path: 'readme.md' }), {
    happened: /readme\.md.{0,2} not found/,
    where: /path/,
    next: /Reading a directory lists it/,
  }),
  {
    who: 'opens a pull request of an unknown branch',
    make: called('github_createPR', { ...HERE, title: 'Mend', head: 'no/such/branch', base: 'main' }),
    happened: /no branch|no "no\/such\/branch"|not found|does not exist/i,
    where: /head|no\/such\/branch/,
    next: /createBranch|branch/,
  },
  mistake(
    'asks an unknown model',
    called('orchestration_orchestrate_parallel', { prompt: 'Hello', agents: ['gpt-4', 'claude'], mode: 'race' }),
    { happened: /no agent|Invalid|unknown|expected/i, where: /agents/, next: /claude.*gemini|list_agents/ },
  ),
  mistake(
    'names an unknown workflow',
    called('orchestration_orchestrate_workflow', { workflow: 'code-reviews', input: 'Hello' }),
    { happened: /workflow .*not found/i, where: /code-reviews/, next: /list_workflows|Did you mean|workflows:/ },
  ),
  mistake('refers to a later or unknown step', workflow([{ ...PLAN, prompt: 'Do {{steps.design.output}}' }]), {
    happened: /does not exist/,
    where: /steps\.0|plan/,
    next: /design/,
  }),
  mistake('uses one name for two steps', workflow([PLAN, PLAN]), {
    happened: /same name|two steps|already|twice/i,
    where: /Step .{0,2}plan.*workflow\.steps/,
    next: /Example: \{.*name/,
  }),
  mistake(
    'writes a condition that is not CEL',
    workflow([PLAN, { ...PLAN, name: 'next', condition: 'steps.plan.output contains "ok"' }]),
    { happened: /condition/, where: /steps\.1/, next: /CEL|position|startsWith|contains\(/ },
  ),
  mistake('waits for an unknown run', called('orchestration_get_run', { runId: 'run-aaaabbbbccccddddeeee' }), {
    happened: /no run|not found/i,
    where: /runId/,
    next: /list_runs/,
  }),
  mistake(
    'names a coding agent in lowercase',
    called('coding_create_task', { tool: 'claude', description: 'Mend it', instructions: 'Now.' }),
    { happened: /Invalid|expected|no (coding )?(tool|agent)|Unknown coding tool/i, where: /tool/, next: /CLAUDECODE/ },
  ),
  mistake(
    'reports on an unknown coding task',
    called('coding_update_task', { taskId: 'nowhere', status: 'completed' }),
    { happened: /no (coding )?task|not found/i, where: /taskId|nowhere/, next: /task:\/\/list/ },
  ),
];
