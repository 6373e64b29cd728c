/** Scenarios for coding tasks, runs, pull requests and registration. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { eventually } from '../../../e2e/support/waiting.ts';
import { type Agent, agentIn } from '../fixture.ts';
import type { Cast, Place, Scenario } from '../scenario.ts';

const oneTask = z.object({ task: z.object({ id: z.string(), status: z.string() }) });
const coded = z.object({ result: z.object({ taskId: z.string() }) });
const held = z.object({
  result: z.object({ task: z.object({ id: z.string(), epoch: z.number(), tool: z.string() }) }),
});
const reported = z.object({
  result: z.object({ task: z.object({ status: z.string() }), result: z.unknown().optional() }),
});
const logs = z.object({ result: z.object({ entries: z.array(z.object({ message: z.string() })) }) });
const run = z.object({
  runId: z.string(),
  status: z.string(),
  result: z.string().optional(),
  error: z.unknown().optional(),
});
const runs = z.object({ runs: z.array(z.object({ runId: z.string(), workflow: z.string(), status: z.string() })) });
const checklist = z.object({ progress: z.object({ completed: z.number() }) });

const entry = (sequence: number, message: string) => ({
  sequence,
  message,
  at: new Date().toISOString(),
  level: 'info',
  type: 'agent',
});

const codingTask: Scenario = {
  name: 'a coding task',
  steps: ({ lead, worker }) => {
    let [taskId, epoch] = ['', 0];
    const append = (at: Place, sequence: number, message: string) =>
      at.call(worker, 'coding_append_logs', { taskId, epoch, entries: [entry(sequence, message)] });
    return [
      async (at) => {
        const draft = { tool: 'CLAUDECODE', description: 'Fix it', instructions: 'In src/app.ts' };
        taskId = coded.parse(await at.call(lead, 'coding_create_task', draft)).result.taskId;
        const programs = [{ name: 'claude', version: '2.1.197' }];
        await at.call(worker, 'coding_register_runner', { programs });
        ({ epoch } = held.parse(await at.call(worker, 'coding_claim_task', { taskId })).result.task);
        await append(at, 0, 'Reading');
      },
      async (at) => {
        await append(at, 0, 'Reading');
        await append(at, 1, 'Writing');
        await at.call(worker, 'coding_heartbeat_task', { taskId, epoch, state: 'in_progress' });
        await at.call(lead, 'coding_update_task', { taskId, log: 'Mind the tests.' });
      },
      async (at) => {
        await append(at, 2, 'Testing');
        await at.call(worker, 'coding_end_task', {
          taskId,
          epoch,
          status: 'completed',
          result: { summary: 'It works.' },
        });
      },
      async (at) => {
        const { result } = reported.parse(await at.call(lead, 'coding_report_task', { taskId }));
        assert.deepEqual([result.task.status, result.result], ['completed', { summary: 'It works.' }]);
        const received = logs.parse(await at.call(lead, 'coding_get_task_logs', { taskId }));
        const messages = received.result.entries.map(({ message }) => message);
        for (const wanted of ['Reading', 'Writing', 'Mind the tests.', 'Testing'])
          assert.equal(messages.filter((message) => message === wanted).length, 1, `${wanted}: ${messages}`);
      },
    ];
  },
};

const unclaimed = z.object({ result: z.object({ task: z.null() }) });
const failed = z.object({
  result: z.object({ task: z.object({ failure: z.object({ class: z.string(), message: z.string() }) }) }),
});

/** The release reads a task for an unknown tool, a failure of an unknown class, and an unknown type of log line. */
const newNames: Scenario = {
  name: 'names that the release does not know',
  steps: ({ lead, worker, other }) => {
    let [taskId, spentId] = ['', ''];
    const draft = { description: 'Fix it', instructions: 'In src/app.ts' };
    const order = async (at: Place, tool: string) =>
      coded.parse(await at.call(lead, 'coding_create_task', { ...draft, tool })).result.taskId;
    const assertLeft = async (at: Place) => {
      for (const tools of [{}, { tools: ['CLAUDECODE', 'GEMINI'] }])
        unclaimed.parse(await at.call(worker, 'coding_claim_task', tools));
      await assert.rejects(
        at.ask(worker, 'coding_claim_task', { taskId }),
        /NOT_CLAIMABLE.*codex|codex.*NOT_CLAIMABLE/,
      );
      const { result } = reported.parse(await at.call(lead, 'coding_report_task', { taskId }));
      assert.equal(result.task.status, 'pending');
    };
    return [
      async (at) => {
        await at.call(worker, 'coding_register_runner', { programs: [{ name: 'claude', version: '2.1.197' }] });
      },
      async (at) => {
        spentId = await order(at, 'CLAUDECODE');
        const claim = held.parse(await at.call(worker, 'coding_claim_task', { taskId: spentId })).result.task;
        const about = { taskId: spentId, epoch: claim.epoch };
        const heard = { ...entry(0, 'Leave the tests'), type: 'message', prefix: 'lead' };
        await at.call(worker, 'coding_append_logs', { ...about, entries: [heard] });
        const failure = { class: 'over_budget', message: 'It has cost more than 1 USD.' };
        await at.call(worker, 'coding_end_task', { ...about, status: 'failed', failure });
        taskId = await order(at, 'CODEX');
        await assertLeft(at);
      },
      async (at) => {
        await assertLeft(at);
        await at.call(lead, 'coordination_update_task', { task_id: taskId, priority: 2 });
        const { result } = failed.parse(await at.call(lead, 'coding_report_task', { taskId: spentId }));
        assert.equal(result.task.failure.message, 'It has cost more than 1 USD.');
        const { entries } = logs.parse(await at.call(lead, 'coding_get_task_logs', { taskId: spentId })).result;
        assert.deepEqual(entries, [{ message: 'Leave the tests' }]);
        await at.call(lead, 'coordination_retry_task', { task_id: spentId });
      },
      async (at) => {
        if (at.version.name === 'today') {
          await at.call(other, 'coding_register_runner', { programs: [{ name: 'codex', version: '0.169.0' }] });
          const { task } = held.parse(await at.call(other, 'coding_claim_task', { tools: ['CODEX'] })).result;
          assert.deepEqual([task.id, task.tool], [taskId, 'CODEX']);
        }
        await at.call(lead, 'coding_end_task', { taskId, status: 'failed' });
        const { result } = reported.parse(await at.call(lead, 'coding_report_task', { taskId }));
        assert.equal(result.task.status, 'failed');
      },
    ];
  },
};

/** A run whose first step waits for a live agent, and whose second step calls a model. */
const runOfSteps: Scenario = {
  name: 'a run',
  steps: ({ workspace, lead, worker }) => {
    const name = `by-hand-${workspace}`;
    const steps = [
      { name: 'work', agent: 'network', prompt: 'WORK {{input}}' },
      { name: 'check', agent: 'claude', role: 'review', prompt: 'CHECK {{steps.work.output}}' },
    ];
    let [runId, second, taskId] = ['', '', ''];
    const begin = async (at: Place, input: string): Promise<string> => {
      const before = await runsOf(at, lead, name);
      // This call returns only when the run has ended, so the step does not wait for it here.
      const waiting = at.ask(lead, 'orchestration_orchestrate_workflow', { workflow: name, input });
      waiting.catch(() => undefined);
      return eventually('the run has created its task', async () => {
        await at.stageFixture.deliveries.settle();
        const found = await runsOf(at, lead, name);
        return found.find(({ runId: id, status }) => status === 'waiting' && !before.some((one) => one.runId === id))
          ?.runId;
      });
    };
    return [
      async (at) => {
        await at.call(lead, 'coordination_init_coordination', { goal: 'Run it' });
        await at.call(lead, 'orchestration_save_workflow', { workflow: { name, steps } });
        runId = await begin(at, 'first');
      },
      async (at) => {
        const claimed = await at.call(worker, 'coordination_claim_task', { agent_id: worker.id });
        taskId = oneTask.parse(claimed).task.id;
      },
      async (at) => {
        const done = { agent_id: worker.id, task_id: taskId, output: 'By hand' };
        await at.call(worker, 'coordination_complete_task', done);
        second = await begin(at, 'second');
      },
      async (at) => {
        const ended = run.parse(await at.call(lead, 'orchestration_get_run', { runId }));
        assert.equal(ended.status, 'succeeded', JSON.stringify(ended));
        assert.match(String(ended.result), /By hand/);
        await at.call(lead, 'orchestration_cancel_run', { runId: second });
        const cancelled = run.parse(await at.call(lead, 'orchestration_get_run', { runId: second }));
        assert.equal(cancelled.status, 'cancelled');
        const listed = await runsOf(at, lead, name);
        assert.ok([runId, second].every((id) => listed.some((one) => one.runId === id)));
        await at.call(lead, 'orchestration_delete_workflow', { name });
      },
    ];
  },
};

/** Returns the runs of one workflow. The listed runs include those of other workflows of the owner. */
async function runsOf(at: Place, who: Agent, name: string) {
  const listed = runs.parse(await at.ask(who, 'orchestration_list_runs', { limit: 100 })).runs;
  return listed.filter(({ workflow }) => workflow === name);
}

const AT = { owner: 'sartor-ai', repo: 'claude-network' };

/** Uses the default workspace, because `GITHUB_REPOSITORIES` allows its repositories only in open workspaces. */
const pullRequest: Scenario = {
  name: 'a pull request',
  workspace: 'default',
  steps: ({ lead, worker }) => {
    const branch = `fix/${worker.id}`;
    let [taskId, number] = ['', 0];
    return [
      async (at) => {
        const created = await at.call(lead, 'coordination_create_task', { description: 'Mend it', priority: 10 });
        taskId = oneTask.parse(created).task.id;
        await at.call(worker, 'github_createBranch', { ...AT, branch });
      },
      async (at) => {
        const files = [{ path: `src/${worker.id}.ts`, content: 'export {};\n' }];
        await at.call(worker, 'github_commitFiles', { ...AT, branch, message: 'Mend it', files });
      },
      async (at) => {
        const pull = { ...AT, title: 'Mend it', head: branch, base: 'main', task_id: taskId };
        ({ number } = z.object({ number: z.number() }).parse(await at.call(worker, 'github_createPR', pull)));
      },
      async (at) => {
        const repository = await repositoryId(at);
        const body = JSON.stringify({
          action: 'closed',
          repository: { id: repository },
          pull_request: { number, merged: true },
        });
        assert.equal(await webhook(at, body), 202);
        const all = await at.call(lead, 'coordination_get_all_tasks', { status_filter: 'done' });
        assert.match(JSON.stringify(all), new RegExp(taskId));
      },
    ];
  },
};

async function repositoryId(at: Place): Promise<number> {
  const response = await fetch(`${at.stageFixture.gitHub.url}/repos/${AT.owner}/${AT.repo}`);
  return z.object({ id: z.number() }).parse(await response.json()).id;
}

async function webhook(at: Place, body: string): Promise<number> {
  const secret = at.stageFixture.env['GITHUB_WEBHOOK_SECRET'] ?? '';
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'pull_request',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
  const { status } = await fetch(at.version.urlOf('githubWebhook'), { method: 'POST', headers, body });
  await at.stageFixture.deliveries.settle();
  return status;
}

/** An agent registers twice, and then uses its new credential at both versions. */
const newcomer: Scenario = {
  name: 'an agent that registers twice',
  steps: (cast: Cast) => {
    const agentInfo = { name: `new-${cast.worker.id}`.slice(0, 50), type: 'researcher', version: '1.0.0' };
    const capabilities = [{ name: 'reading', category: 'work' }];
    const enter = async (at: Place): Promise<Agent> => {
      const wanted = { agentInfo, capabilities, workspace: cast.workspace };
      return agentIn(await at.call(cast.lead, 'onboarding_registerAgent', wanted));
    };
    let agent: Agent;
    let before: Agent;
    const progress = async (at: Place) => {
      const reported = await at.call(agent, 'onboarding_getChecklist', { agentId: agent.id });
      return checklist.parse(reported).progress.completed;
    };
    return [
      async (at) => {
        agent = await enter(at);
        await at.call(agent, 'onboarding_getWelcome', { agentName: agentInfo.name, role: 'researcher' });
      },
      async (at) => {
        assert.ok((await progress(at)) > 0);
        await at.call(agent, 'system_listSkills', {});
      },
      async (at) => {
        before = agent;
        agent = await enter(at);
        assert.equal(agent.id, before.id);
        await eventually('the old credential is rejected', () => isRefused(at, before));
        await at.call(agent, 'system_getAgents', {});
      },
      async (at) => {
        // This version has also cached the old credential, and does not know yet that it was replaced.
        await eventually('the other version rejects the old credential', () => isRefused(at, before));
        assert.ok((await progress(at)) > 0);
        const known = await at.call(agent, 'system_getTaskQueue', { agentId: agent.id });
        assert.deepEqual(known['tasks'], []);
      },
    ];
  },
};

/** Returns true if the credential is rejected. An instance accepts a revoked credential until its cache expires. */
async function isRefused(at: Place, { credential }: Agent): Promise<true | undefined> {
  const refused = await at.ask({ id: '', credential }, 'system_listSkills').catch(String);
  return (typeof refused === 'string' && refused.includes('401')) || undefined;
}

export const workScenarios: readonly Scenario[] = [codingTask, newNames, runOfSteps, pullRequest, newcomer];
