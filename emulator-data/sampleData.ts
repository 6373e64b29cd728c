/**
 * Demo scenario of `npm start`: a team in the middle of its work. It calls the real tools, with a simulated clock
 * that runs through the last two days, so that all data is realistic.
 */
import { z } from 'zod';
import { compose } from '../functions/src/composition/compose.ts';
import { externalServices } from '../functions/src/composition/externalServices.ts';
import type { Principal } from '../functions/src/identity/rules/principal.ts';
import type { Role } from '../functions/src/identity/rules/role.ts';
import { requestTimeLeft } from '../functions/src/kernel/concurrency.ts';
import type { JsonObject } from '../functions/src/kernel/json.ts';
import { callTool } from '../functions/src/mcp/call.ts';
import { Catalogs } from '../functions/src/mcp/catalog.ts';
import { toolsets } from '../functions/src/toolsets/index.ts';
import { agentsAt, fileWith } from '../test/support/models/agents.ts';
import { LocalModels } from '../test/support/models/server.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_SCALE = 60;

/** Lease length of the scenario's tasks. It is the maximum, because the scenario's agents send no heartbeats. */
const DAY_SECONDS = 86_400;

const catalog = new Catalogs(toolsets).of({
  toolsets: toolsets.map(({ name }) => name),
  readonly: false,
  workspace: undefined,
  dialect: 'prefixed',
  listing: 'whole',
});

const taskResponse = z.object({ task: z.object({ id: z.string() }) });
const batchAnswer = z.object({ task_ids: z.array(z.string()) });
const agentResponse = z.object({ agentId: z.string() });
const codingAnswer = z.object({ result: z.object({ taskId: z.string() }) });
const claimAnswer = z.object({ result: z.object({ task: z.object({ epoch: z.number() }) }) });

/** Returns the answer of a model to a prompt of the scenario. */
function said({ prompt }: { readonly prompt: string }): string {
  if (prompt.startsWith('Rank these answers')) return 'A > B';
  return [
    'One line for each invoice: number, date, customer, net, tax, gross, currency.',
    'Amounts have two digits after a decimal point. An invoice without tax has 0.00, not an empty field.',
  ].join('\n');
}

export interface SampleDataOptions {
  readonly workspace: string;
  readonly ownerUid: string;
}

/** Runs the scenario in an empty workspace. */
export async function createSampleData({ workspace, ownerUid }: SampleDataOptions): Promise<void> {
  const end = Date.now();
  // Within a step of the scenario, the clock runs at sixty times the real speed.
  let [stepAt, steppedAt] = [end - 2 * DAY, performance.now()];
  const now = () => Math.min(end, stepAt + TIME_SCALE * (performance.now() - steppedAt));
  const models = new LocalModels({ usually: said });
  await models.start();
  const file = fileWith({ claude: 'claude-story', gemini: 'gemini-story' }, { input: 3, output: 15 });
  const executed: Promise<unknown>[] = [];
  const app = compose({
    ...externalServices(),
    rateLimit: undefined,
    push: undefined,
    clock: { now: () => new Date(now()) },
    // Nothing is logged, because the caller parses the printed output. Errors are thrown instead of logged.
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    hosted: () => agentsAt(models.url, { file }),
    dispatch: {
      dispatch: async (runId) => {
        executed.push(app.services.runExecution.deliver({ runId }));
      },
    },
  });

  const arrive = (at: number) => {
    [stepAt, steppedAt] = [Math.max(at, now()), performance.now()];
  };
  const walk = (minutes: number) => arrive(now() + minutes * MINUTE);
  const owner = { role: 'admin', workspaces: {}, access: {} } as const;
  const ada: Principal = { uid: ownerUid, kind: 'person', owner_uid: ownerUid, maxRole: 'admin', owner };

  async function tell(principal: Principal, name: string, args: JsonObject): Promise<JsonObject> {
    const found = catalog.findTool(name);
    if (found === undefined) throw new Error(`The demo scenario calls an unknown tool: ${name}.`);
    const ports = {
      ...app.calls,
      authenticator: { authenticate: async () => principal, reauthenticate: async () => principal },
    };
    const exchange = {
      principal,
      workspace,
      credential: principal.uid,
      requestId: 'story',
      baseUrl: 'http://127.0.0.1:5005/mcp',
      directory: catalog.directory,
      disconnectSignal: () => new AbortController().signal,
      timeLeft: requestTimeLeft(),
    };
    const outcome = await callTool(ports, exchange, found, { args: args });
    if ('error' in outcome) throw new Error(`${name}: ${outcome.error.message}`);
    return outcome.answer;
  }

  async function agentNamed(name: string, role: Role, capabilities: readonly string[]): Promise<Principal> {
    const answer = await tell(ada, 'onboarding_registerAgent', {
      agentInfo: { name, type: role === 'leader' ? 'coordinator' : 'developer', version: '1.0.0' },
      capabilities: capabilities.map((capability) => ({ name: capability, category: 'general' })),
      configuration: { maxConcurrentTasks: 3 },
      role,
      workspace,
    });
    const { agentId } = agentResponse.parse(answer);
    const agent: Principal = {
      uid: `agent:${agentId}`,
      kind: 'agent',
      agent_id: agentId,
      owner_uid: ownerUid,
      maxRole: role,
      owner,
    };
    await tell(agent, 'coordination_register_agent', {
      agent_id: agentId,
      role: role === 'leader' ? 'leader' : 'worker',
    });
    return agent;
  }

  const idOf = ({ agent_id: agentId }: Principal) => ({ agent_id: String(agentId) });

  async function begins(agent: Principal): Promise<string> {
    const claim = { ...idOf(agent), lease_seconds: DAY_SECONDS };
    const { task } = taskResponse.parse(await tell(agent, 'coordination_claim_task', claim));
    await tell(agent, 'coordination_start_task', { ...idOf(agent), task_id: task.id });
    return task.id;
  }

  try {
    const [planner, builder, tester, runner] = [
      await agentNamed('planner', 'leader', ['planning']),
      await agentNamed('builder', 'worker', ['coding']),
      await agentNamed('tester', 'worker', ['testing']),
      await agentNamed('build-machine', 'worker', ['coding']),
    ] as const;

    await tell(planner, 'coordination_init_coordination', {
      goal: 'Customers can export their invoices as CSV',
      master_plan: 'First move the old exports. Then read the invoices, write the export, check it, and announce it.',
    });
    await plansTheWeek();
    walk(10);
    const plan = [
      { description: 'Read how invoices are stored', priority: 1, required_capabilities: ['coding'] },
      {
        description: 'Write the export to CSV',
        priority: 2,
        dependencies: ['task-1'],
        required_capabilities: ['coding'],
      },
      {
        description: "Check the totals against last year's books",
        priority: 3,
        dependencies: ['task-2'],
        required_capabilities: ['coding'],
      },
      { description: 'Move the old exports', priority: 1, required_capabilities: ['testing'] },
      {
        description: 'Announce the export to customers',
        priority: 6,
        dependencies: ['task-4'],
        required_capabilities: ['testing'],
      },
      {
        description: 'Rewrite the help pages',
        priority: 7,
        dependencies: ['task-4'],
        required_capabilities: ['testing'],
      },
      // Any agent can claim this task. The README describes how an agent completes it.
      { description: 'Say in one sentence what the export is good for', priority: 9 },
      {
        description: 'Measure the export of 10,000 invoices',
        priority: 4,
        dependencies: ['task-2'],
        required_capabilities: ['testing'],
      },
    ];
    const made = batchAnswer.parse(await tell(planner, 'coordination_create_tasks_batch', { tasks: plan }));
    const [, , check] = made.task_ids;

    walk(15);
    const reading = await begins(builder);
    walk(95);
    await tell(builder, 'coordination_add_discovery', {
      ...idOf(builder),
      content: 'Invoices from before 2021 have dates with two digits for the year.',
      tags: ['dates', 'import'],
    });
    walk(20);
    await tell(builder, 'coordination_complete_task', {
      ...idOf(builder),
      task_id: reading,
      output: 'Amounts are in cents. Taxes are on separate lines. Dates have two formats.',
      files_created: ['docs/invoices.md'],
    });
    const writing = await begins(builder);

    const moving = await begins(tester);
    walk(180);
    await tell(tester, 'coordination_fail_task', {
      ...idOf(tester),
      task_id: moving,
      error: 'The archive of 2019 is encrypted, and no one here has the key.',
    });
    walk(14 * 60);
    await tell(builder, 'coordination_complete_task', {
      ...idOf(builder),
      task_id: writing,
      output: 'The export writes 2,000 lines per second. It has the columns that the accountant needs.',
      files_created: ['src/export/csv.ts'],
      files_modified: ['src/routes/invoices.ts'],
    });

    walk(30);
    await tell(ada, 'orchestration_orchestrate', {
      prompt: 'Which columns does a CSV export of invoices need, so that an accountant can use it?',
      preferences: { workflow: 'competitive', cache: false },
      options: { timeout: 0, budget: { cost_usd: 0.5, tokens: 100_000 } },
    });
    await Promise.all(executed);

    walk(26 * 60);
    await begins(tester);
    const checking = await begins(builder);
    if (checking !== check) throw new Error('The builder does not hold the task that the demo scenario expects.');
    walk(40);

    const { result: drafted } = codingAnswer.parse(
      await tell(planner, 'coding_create_task', {
        tool: 'CLAUDECODE',
        description: 'Add a button that downloads the export',
        instructions: 'Put the button next to the filter of the list. The button shows the number of invoices.',
        branch: 'feature/export-button',
      }),
    );
    arrive(end - 9 * MINUTE);
    await tell(runner, 'coding_register_runner', {
      programs: [{ name: 'claude', version: '2.1.197' }],
      serves: 'workspace',
    });
    const { result: claimed } = claimAnswer.parse(
      await tell(runner, 'coding_claim_task', { taskId: drafted.taskId, leaseSeconds: 3600 }),
    );
    const lines = [
      ['info', 'Checking out feature/export-button'],
      ['info', 'Reading src/routes/invoices.ts'],
      ['info', 'Writing src/components/ExportButton.tsx'],
      ['warn', 'The list has no count for tax filters. Requesting the count from the server'],
      ['info', 'npm test: 41 passed, 1 failed'],
      ['error', 'ExportButton › shows the number: expected "12 invoices", got "NaN invoices"'],
      ['info', 'Writing src/components/ExportButton.tsx'],
      ['info', 'npm test: 42 passed'],
    ] as const;
    await tell(runner, 'coding_append_logs', {
      taskId: drafted.taskId,
      epoch: claimed.task.epoch,
      entries: lines.map(([level, message], sequence) => ({
        sequence,
        level,
        message,
        type: 'agent',
        at: new Date(now() + sequence * 20_000).toISOString(),
      })),
    });

    arrive(end - 6 * MINUTE);
    await tell(builder, 'inbox_ask', {
      question: 'Invoices from before 2021 have dates such as "03/04/20". Which number is the month?',
      kind: 'choice',
      options: ['The first number', 'The second number'],
      task_id: checking,
    });
    await hasTranslated();
  } finally {
    await models.stop();
  }

  /** Creates the to-dos of the person for this week. */
  async function plansTheWeek(): Promise<void> {
    const todos = [
      { title: "Send the accountant last year's books", due: end - 2 * HOUR, priority: 'HIGH' },
      { title: 'Find who has the key of the archive', due: end + 3 * HOUR, tags: ['release'] },
      { title: 'Read the draft of the announcement', due: end + DAY, tags: ['release'] },
      { title: 'Call the printer about the cards', due: end + 2 * DAY, priority: 'LOW' },
      { title: 'Plan the next release', due: end + 5 * DAY, tags: ['release', 'planning'] },
    ];
    for (const { due, ...todo } of todos)
      await tell(ada, 'todo_add_task', { ...todo, due_date: new Date(due).toISOString() });
  }

  async function hasTranslated(): Promise<void> {
    const translated = await tell(ada, 'todo_add_task', {
      title: 'Have the export translated into German and French',
      tags: ['release'],
    });
    const { task } = taskResponse.parse(translated);
    await tell(ada, 'todo_delegate', { task_id: task.id, required_capabilities: ['translation'] });
  }
}
