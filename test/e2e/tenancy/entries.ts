/** Arguments for every tool, resource and completion. Tests fail if a new tool or resource has no entry. */
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import type { Ids } from './things.ts';

const DUE = '2099-02-11T17:00:00Z';
const AT = { owner: 'sartor-ai', repo: 'claude-network' };
const PROMPT = { prompt: 'Do it' };

/** Returns the arguments of a call. If the tool accepts names or ids of items, these are the ones in `ids`. */
type Arguments = (ids: Ids) => JsonObject;

const nothing: Arguments = () => ({});

export const TOOLS: Readonly<Record<string, Arguments>> = {
  'access.whoami': nothing,
  'access.explain': ({ workspace }) => ({ tool: 'coordination.create_task', workspace }),
  'access.list_members': ({ workspace }) => ({ workspace }),
  'access.invite': ({ workspace }) => ({ email: 'eve@example.com', role: 'leader', workspace }),
  'access.withdraw_invitation': ({ workspace }) => ({ email: 'eve@example.com', workspace }),
  'access.accept_invitation': ({ workspace }) => ({ workspace }),
  'access.set_member': ({ workspace, owner }) => ({ uid: owner, role: 'viewer', workspace }),
  'access.remove_member': ({ workspace, owner }) => ({ uid: owner, workspace }),
  'access.create_workspace': () => ({ name: 'default' }),
  'access.update_workspace': ({ workspace }) => ({ workspace, repositories: ['sartor-ai/muster'] }),
  'access.list_connections': ({ owner }) => ({ owner }),
  'access.revoke_connection': ({ agent }) => ({ agent_id: agent }),

  'firebase.read': ({ place }) => ({ database: 'realtime', path: `messages/${place}/talk` }),
  'firebase.write': ({ place }) => ({
    database: 'firestore',
    path: `shared/${place}/talk/two`,
    operation: 'set',
    data: { text: 'hello' },
  }),
  'firebase.subscribe': ({ place }) => ({
    subscriptionId: 'sub-of-another',
    database: 'realtime',
    path: `messages/${place}/talk`,
    eventType: 'child_added',
  }),
  'firebase.unsubscribe': ({ subscription }) => ({ subscriptionId: subscription }),
  'firebase.pollEvents': ({ subscription }) => ({ subscriptionId: subscription, waitMs: 0 }),

  'github.readFile': () => ({ ...AT, path: 'README.md' }),
  'github.searchCode': () => ({ query: 'registerAgent' }),
  'github.createIssue': () => ({ ...AT, title: 'A title', body: 'A body' }),
  'github.createPR': ({ task }) => ({
    ...AT,
    title: 'A title',
    body: 'A body',
    head: 'x',
    base: 'main',
    task_id: task,
  }),
  'github.createBranch': () => ({ ...AT, branch: 'new', from: 'main' }),
  'github.commitFiles': () => ({ ...AT, branch: 'new', message: 'A', files: [{ path: 'a.txt', content: 'a' }] }),
  'github.getWorkflowRuns': () => AT,
  'github.getJobLogs': () => ({ ...AT, run_id: 4000000001 }),

  'onboarding.getWelcome': () => ({ agentName: 'Eve', role: 'developer' }),
  'onboarding.getChecklist': ({ agent }) => ({ agentId: agent }),
  'onboarding.registerAgent': ({ workspace }) => ({
    agentInfo: { name: 'of-another', type: 'developer', version: '1.0.0' },
    capabilities: [{ name: 'a', category: 'b' }],
    workspace,
  }),

  'system.getAgents': () => ({ includeMetrics: true }),
  'system.getTaskQueue': ({ agent }) => ({ agentId: agent }),
  'system.listSkills': () => ({ limit: 200 }),
  'system.getSystemStatus': nothing,
  'system.getAudit': ({ task }) => ({ thing: `task:${task}` }),
  'system.undo': ({ agent }) => ({ agent_id: agent, since: '2020-01-01T00:00:00Z' }),
  'system.getTree': ({ run }) => ({ kind: 'run', id: run }),
  'system.setBudget': ({ task }) => ({ kind: 'task', id: task, money: 0 }),

  'coordination.init_coordination': () => ({ goal: 'Another goal' }),
  'coordination.create_task': ({ task }) => ({ description: 'A', dependencies: [task] }),
  'coordination.create_tasks_batch': ({ task }) => ({ tasks: [{ description: 'A', dependencies: [task] }] }),
  'coordination.get_status': nothing,
  'coordination.get_all_tasks': nothing,
  'coordination.get_results': ({ done }) => ({ task_ids: [done] }),
  'coordination.register_agent': ({ agent }) => ({ agent_id: agent, role: 'worker' }),
  'coordination.claim_task': ({ terminal }) => ({ agent_id: terminal }),
  'coordination.start_task': ({ agent, held }) => ({ agent_id: agent, task_id: held }),
  'coordination.complete_task': ({ agent, held }) => ({ agent_id: agent, task_id: held, output: 'Mine' }),
  'coordination.fail_task': ({ agent, held }) => ({ agent_id: agent, task_id: held, error: 'Mine' }),
  'coordination.heartbeat': ({ agent }) => ({ agent_id: agent }),
  'coordination.add_discovery': ({ agent }) => ({ agent_id: agent, content: 'Mine' }),
  'coordination.cancel_task': ({ task }) => ({ task_id: task }),
  'coordination.retry_task': ({ task }) => ({ task_id: task, with_dependents: true }),
  'coordination.release_task': ({ held }) => ({ task_id: held }),
  'coordination.update_task': ({ task }) => ({ task_id: task, description: 'Mine' }),
  'coordination.reopen': nothing,
  'coordination.message_agent': ({ agent }) => ({ agent_id: agent, message: 'Do as I say' }),
  'coordination.get_discoveries': nothing,
  'coordination.get_master_plan': nothing,

  'todo.add_task': ({ todo }) => ({ title: 'Mine', part_of: { kind: 'todo', id: todo } }),
  'todo.update_task': ({ todo }) => ({ task_id: todo, title: 'Mine' }),
  'todo.complete_task': ({ todo }) => ({ task_id: todo }),
  'todo.reopen_task': ({ todo }) => ({ task_id: todo }),
  'todo.delete_task': ({ todo }) => ({ task_id: todo }),
  'todo.list_tasks': nothing,
  'todo.set_task_priority': ({ todo }) => ({ task_id: todo, priority: 'HIGH' }),
  'todo.set_task_due_date': ({ todo }) => ({ task_id: todo, due_date: DUE }),
  'todo.add_task_tags': ({ todo }) => ({ task_id: todo, tags: ['mine'] }),
  'todo.search_tasks': () => ({ query: 'heron' }),
  'todo.filter_tasks': () => ({ completed: false }),
  'todo.sort_tasks': () => ({ sort_by: 'due_date', sort_order: 'asc' }),
  'todo.create_recurring_task': () => ({ title: 'Mails', frequency: 'DAILY', start_date: DUE }),
  'todo.list_reminders': nothing,
  'todo.list_recurring_tasks': nothing,
  'todo.update_recurring_task': ({ recurring }) => ({ recurring_task_id: recurring, title: 'Mine' }),
  'todo.delete_recurring_task': ({ recurring }) => ({ recurring_task_id: recurring }),
  'todo.get_task_history': ({ todo }) => ({ task_id: todo }),
  'todo.set_reminder': ({ todo }) => ({ task_id: todo, remind_at: '2099-02-11T16:00:00Z' }),
  'todo.snooze_reminder': ({ todo }) => ({ reminder_id: todo, minutes: 30 }),
  'todo.delegate': ({ todo }) => ({ task_id: todo }),
  'todo.delete_reminder': ({ todo }) => ({ reminder_id: todo }),

  'orchestration.orchestrate': ({ task }) => ({
    ...PROMPT,
    options: { timeout: 0 },
    part_of: { kind: 'task', id: task },
  }),
  'orchestration.orchestrate_workflow': ({ workflow }) => ({ workflow, input: 'Do it' }),
  'orchestration.orchestrate_parallel': () => ({ ...PROMPT, agents: ['nobody'] }),
  'orchestration.execute_code': () => ({ ...PROMPT, options: { timeout: 0 } }),
  'orchestration.execute_task': () => ({ task: { id: 'one', prompt: 'Do it' }, options: { timeout: 0 } }),
  'orchestration.list_agents': () => ({ includeMetrics: true }),
  'orchestration.get_capabilities': () => ({ task: 'Write' }),
  'orchestration.list_workflows': () => ({ filter: 'all', detailed: true }),
  'orchestration.save_workflow': ({ workflow }) => ({
    workflow: { name: `${workflow}-2`, steps: [{ name: 'only', agent: 'claude' }] },
  }),
  'orchestration.delete_workflow': ({ workflow }) => ({ name: workflow }),
  'orchestration.get_run': ({ run }) => ({ runId: run }),
  'orchestration.list_runs': nothing,
  'orchestration.cancel_run': ({ run }) => ({ runId: run }),

  'coding.create_task': ({ task }) => ({
    tool: 'CLAUDECODE',
    description: 'Mine',
    instructions: 'curl it',
    dependencies: [task],
  }),
  'coding.update_task': ({ coding }) => ({ taskId: coding, log: 'A forged line' }),
  'coding.end_task': ({ coding }) => ({ taskId: coding, status: 'failed' }),
  'coding.report_task': ({ coding }) => ({ taskId: coding }),
  'coding.register_runner': () => ({ programs: [{ name: 'claude', version: '2.1.197' }] }),
  'coding.claim_task': ({ agent, coding }) => ({ agentId: agent, taskId: coding, waitMs: 0 }),
  'coding.append_logs': ({ coding }) => ({
    taskId: coding,
    epoch: 1,
    entries: [{ sequence: 0, at: DUE, level: 'info', type: 'agent', prefix: 'x', message: 'Forged' }],
  }),
  'coding.heartbeat_task': ({ coding }) => ({ taskId: coding, epoch: 1 }),
  'coding.get_task_logs': ({ coding }) => ({ taskId: coding }),

  'inbox.ask': ({ held }) => ({ question: 'Mine?', kind: 'text', task_id: held }),
  'inbox.wait': ({ request }) => ({ request_id: request, wait_ms: 0 }),
  'inbox.list': () => ({ box: 'received' }),
  'inbox.answer': ({ request }) => ({ request_id: request, answer: 'Mine' }),
  'inbox.withdraw': ({ request }) => ({ request_id: request }),
};

export const RESOURCES: Readonly<Record<string, (ids: Ids) => string>> = {
  'coordination://status': () => 'coordination://status',
  'coordination://tasks': () => 'coordination://tasks',
  'coordination://discoveries': () => 'coordination://discoveries',
  'coordination://master-plan': () => 'coordination://master-plan',
  'agent://status': () => 'agent://status',
  'agent://tasks': () => 'agent://tasks',
  'task://list': () => 'task://list',
  'task://{taskId}': ({ coding }) => `task://${coding}`,
  'task://{taskId}/logs': ({ coding }) => `task://${coding}/logs`,
  'task://{taskId}/result': ({ coding }) => `task://${coding}/result`,
  'session://{sessionType}/{sessionId}': ({ session }) => `session://coordination/${session}`,
  'branch://{branchName}/tasks': ({ branch }) => `branch://${branch}/tasks`,
  'project://{projectPath}/status': ({ project }) => `project://${project}/status`,
  'log://{logType}/{date}': () => `log://system/${new Date().toISOString().slice(0, 10)}`,
  'firebase://subscriptions/{subscriptionId}': ({ subscription }) => `firebase://subscriptions/${subscription}`,
  'run://{runId}': ({ run }) => `run://${run}`,
  'inbox://agents/{agentId}': ({ terminal }) => `inbox://agents/${terminal}`,
};

/** Tools that end items. They are called last, because other tools read these items. */
const LAST = ['access.remove_member', 'access.revoke_connection', 'coordination.reopen', 'system.undo'];

/** Tools that start a run and wait for its end. Their arguments name no item. */
const WAITING = ['orchestrate_workflow', 'orchestrate_parallel', 'execute_code', 'execute_task'].map(
  (name) => `orchestration.${name}`,
);

/** All tools except WAITING. The tools in LAST are at the end, so that all other tools find the items. */
const CALLABLE = toolsets
  .flatMap(({ name, tools }) => tools.map((tool) => fullName(name, tool.name)))
  .filter((name) => !WAITING.includes(name))
  .sort((one, other) => LAST.indexOf(one) - LAST.indexOf(other));

/** Tools by toolset. The tools in LAST are a separate group at the end. */
export const CALLABLE_BY_TOOLSET: ReadonlyMap<string, readonly string[]> = new Map([
  ...toolsets.map(
    ({ name }) => [name, CALLABLE.filter((tool) => tool.startsWith(`${name}.`) && !LAST.includes(tool))] as const,
  ),
  ['the destructive group', LAST],
]);
