/**
 * A task action costs at most as many reads and writes as the call that it reverts, plus the additional costs below.
 * Those are for work that a different call originally did, such as adding the task to the queue.
 */
import assert from 'node:assert/strict';
import { NOTHING, plus } from '../../../bench/wire/bill.ts';
import { type Meter, openMeter } from '../../../bench/wire/meter.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { clientAt } from '../../support/lossyFirestore/connections.ts';
import { answer } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

/** Cost of requeueing: it updates a queue version shard, as the creation of a task does. */
const BACK_IN_THE_QUEUE = { reads: 2, writes: 1 };

/** Additional cost of reopening: it archives the open session, which has eight counter shards. */
const ANOTHER_SESSION = { reads: 8, writes: 1 };

/** Additional cost of reopening a to-do: it reads the owner's setting for the lead time of reminders. */
const REMINDER = { reads: 1, writes: 0 };

describe('the Firestore cost', () => {
  let meter: Meter;
  let team: Team;
  let ann: string;

  before(async () => {
    meter = await openMeter(process.env['FIRESTORE_EMULATOR_HOST'] ?? '');
  });
  after(() => meter.close());

  beforeEach(async () => {
    team = new Team({ database: clientAt(meter.host) });
    ann = await team.join('ann');
    // Creates the session first. The cost of its creation is not part of the comparison.
    await team.createOne();
    await team.claim(ann);
    await team.complete(ann, String((await team.tasks())[0]?.id));
  });

  interface Called {
    readonly output: JsonObject;
    readonly reads: number;
    readonly writes: number;
  }

  async function called(tool: string, args: JsonObject, principal?: Principal): Promise<Called> {
    meter.take();
    const output = await answer(team, tool, args, principal ?? team.leader);
    const { reads, writes, deletes } = meter.take().reduce((sum, { bill }) => plus(sum, bill), NOTHING);
    return { output, reads, writes: writes + deletes };
  }

  function assertNoDearer(lever: Called, corrected: Called, besides = { reads: 0, writes: 0 }): void {
    const shown = ({ reads, writes }: Called) => ({ reads, writes });
    const both = JSON.stringify({ lever: shown(lever), corrected: shown(corrected) });
    assert.ok(lever.reads <= corrected.reads + besides.reads, both);
    assert.ok(lever.writes <= corrected.writes + besides.writes, both);
  }

  const create = () => called('coordination.create_task', { description: 'Some work' });
  const claim = () => called('coordination.claim_task', { agent_id: ann }, team.principal('ann'));
  const idOf = ({ output }: Called): string => String(Object(output['task']).id);

  it('of updating or cancelling a task is at most the cost of creating it', async () => {
    const created = await create();
    const task_id = idOf(created);
    assertNoDearer(await called('coordination.update_task', { task_id, description: 'Other' }), created);
    assertNoDearer(await called('coordination.update_task', { task_id, priority: 1 }), created);
    assertNoDearer(await called('coordination.cancel_task', { task_id }), created);
  });

  it('of releasing a task is at most the cost of claiming it, plus requeueing', async () => {
    await create();
    const claimed = await claim();
    assertNoDearer(await called('coordination.release_task', { task_id: idOf(claimed) }), claimed, BACK_IN_THE_QUEUE);
  });

  it('of retrying a task is at most the cost of failing it, plus requeueing', async () => {
    await create();
    // The instance that claimed the task would report its failure without reading it.
    const other = team.at({ app: team.anotherInstance() });
    const claimed = await answer(other, 'coordination.claim_task', { agent_id: ann }, team.principal('ann'));
    const task_id = String(Object(claimed['task']).id);
    const report = { agent_id: ann, task_id, error: 'It broke' };
    const failed = await called('coordination.fail_task', report, team.principal('ann'));
    assertNoDearer(await called('coordination.retry_task', { task_id }), failed, BACK_IN_THE_QUEUE);
  });

  it('of reopening a session is at most the cost of archiving it, plus archiving the open one', async () => {
    await called('coordination.init_coordination', { goal: 'One' });
    await create();
    const away = await called('coordination.init_coordination', { goal: 'Two' });
    assertNoDearer(await called('coordination.reopen', {}), away, ANOTHER_SESSION);
  });

  it('of reopening a to-do is at most the cost of completing it, plus the reminder setting', async () => {
    const task_id = idOf(await called('todo.add_task', { title: 'Milk', due_date: '2099-01-01T10:00:00Z' }));
    const completed = await called('todo.complete_task', { task_id });
    assertNoDearer(await called('todo.reopen_task', { task_id }), completed, REMINDER);
  });

  it('of withdrawing a question is at most the cost of asking it', async () => {
    const asked = await called('inbox.ask', { question: 'Continue?', kind: 'approval' });
    const { request_id } = asked.output;
    assertNoDearer(await called('inbox.withdraw', { request_id }), asked);
  });
});
