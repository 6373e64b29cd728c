/** When a task is cancelled, its runs end. They end at any instance, and however often the trigger fires. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../functions/src/mcp/validation.ts';
import type { Run } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { soon } from '../../support/soon.ts';
import { GraphFixture } from './fixture.ts';

describe('a cancelled task', () => {
  let team: GraphFixture;
  let task: string;

  beforeEach(async () => {
    team = await GraphFixture.open();
    task = idOf((await team.ask('coordination_create_task', { description: 'Plan it' }))['task']);
  });

  afterEach(() => team.close());

  const start = async (prompt: string, more = {}): Promise<string> => {
    const asked = { prompt, options: { timeout: 0 }, preferences: { agent: 'claude' } };
    const part_of = { kind: 'task', id: task };
    return String((await team.ask('orchestration_orchestrate', { ...asked, part_of, ...more }))['runId']);
  };

  const runOf = async (id: string): Promise<Run> =>
    (await team.app.orchestration.ports.runs.find(id))?.value ?? assert.fail(`${id} not found`);

  it('ends a run that an instance is executing, and closes the request to the model', async () => {
    const prompt = `hang ${randomUUID()}`;
    team.models.when({ text: prompt }, { does: 'hang' });
    const run = await start(prompt);
    await soon(() => team.models.askedAbout(prompt).length === 1);
    await team.ask('coordination_cancel_task', { task_id: task, reason: 'No longer wanted' });
    await team.follow({ kind: 'task', id: task });
    await team.settled();
    const { status, warnings } = await runOf(run);
    assert.equal(status, 'cancelled');
    assert.match(warnings.join(), new RegExp(`${task} was cancelled.*No longer wanted`));
    await soon(() => team.models.askedAbout(prompt)[0]?.closedAt !== undefined);
    assert.equal(team.models.askedAbout(prompt).length, 1, 'the model is not asked again');
    const node = await team.node({ kind: 'task', id: task });
    assert.deepEqual(node?.totals.counts, { cancelled: 2, open: 0, in_progress: 0 });
  });

  it('immediately ends its runs that wait for agents, and the tasks of such runs', async () => {
    const helper = await team.join('helper');
    const workflow = { name: 'by-hand', steps: [{ name: 'work', agent: 'network', prompt: 'Do it' }] };
    const { runs, roster } = team.app.services.orchestration;
    const request = {
      workflow: readWorkflow(workflow, 'workflow'),
      input: 'It',
      context: {},
      budget: { tokens: 1_000_000, cost_usd: 10 },
      parallel: true,
      cache: false,
      situation: await roster.situation(team.workspace),
      part_of: { kind: 'task' as const, id: task },
    };
    const { runId: run } = await runs.start(team.leader, team.workspace, request, () => undefined);
    await team.settled();
    assert.equal((await runOf(run)).status, 'waiting');
    await team.ask('coordination_cancel_task', { task_id: task });
    await team.follow({ kind: 'task', id: task });
    assert.equal((await runOf(run)).status, 'cancelled');
    assert.equal((await team.task(`${run}-work-1`)).status, 'cancelled');
    assert.equal(await team.claim(helper), undefined);
  });

  it('does not affect ended runs, runs of other tasks, and runs started after a retry', async () => {
    const done = await start(`done ${randomUUID()}`);
    await team.settled();
    const prompt = `hang ${randomUUID()}`;
    team.models.when({ text: prompt }, { does: 'hang' });
    const other = idOf((await team.ask('coordination_create_task', { description: 'Other' }))['task']);
    const elsewhere = await start(prompt, { part_of: { kind: 'task', id: other } });
    await soon(() => team.models.askedAbout(prompt).length === 1);
    await team.ask('coordination_cancel_task', { task_id: task });
    const [cancelled] = await team.documentsAt({ kind: 'task', id: task });
    await team.follow({ kind: 'task', id: task });
    assert.deepEqual([(await runOf(done)).status, (await runOf(elsewhere)).status], ['succeeded', 'running']);
    await team.ask('coordination_retry_task', { task_id: task });
    const again = `hang ${randomUUID()}`;
    team.models.when({ text: again }, { does: 'hang' });
    const run = await start(again);
    await soon(() => team.models.askedAbout(again).length === 1);
    await team.app.services.followGraph(cancelled?.data);
    assert.equal((await runOf(run)).status, 'running', 'a late event does not cancel the new run');
    for (const id of [task, other]) {
      await team.ask('coordination_cancel_task', { task_id: id });
      await team.follow({ kind: 'task', id });
    }
    await team.settled();
  });
});

function idOf(value: unknown): string {
  assert.ok(isRecord(value));
  return String(value['id']);
}
