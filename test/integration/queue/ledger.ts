/** Records all successful claims and reports, and compares them with the stored tasks. */
import assert from 'node:assert/strict';
import { isClosed, isHeld, TASK_STATUSES, type Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import type { Team } from '../coordination/team.ts';

export class Ledger {
  /** The agent that made each successful claim, by task and epoch. */
  private readonly given = new Map<string, string>();
  /** Number of accepted reports per task. */
  private readonly accepted = new Map<string, number>();
  private readonly created = new Set<string>();

  create(ids: readonly string[]): void {
    for (const id of ids) {
      assert.ok(!this.created.has(id), `${id} was created twice`);
      this.created.add(id);
    }
  }

  claim(id: string, epoch: number, agent: string): void {
    const entry = `${id} ${epoch}`;
    assert.ok(!this.given.has(entry), `${entry} was claimed by ${this.given.get(entry)} and by ${agent}`);
    this.given.set(entry, agent);
  }

  accept(id: string): void {
    this.accepted.set(id, (this.accepted.get(id) ?? 0) + 1);
  }

  /** Compares the stored tasks with the recorded responses and with each other. Returns the tasks. */
  async audit(team: Team, agents: Iterable<string>): Promise<readonly Task[]> {
    const tasks = await team.tasks();
    assert.deepEqual(new Set(tasks.map((task) => task.id)), this.created, 'no task is lost');
    for (const task of tasks) this.auditTask(task);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    for (const task of tasks) auditDependencies(task, byId);
    await auditCounters(team, tasks);
    for (const agent of agents) await auditAgent(team, agent, tasks);
    return tasks;
  }

  private auditTask(task: Task): void {
    const { id, claim_epoch: epoch, claim, status } = task;
    const epochs = [...this.given.keys()].filter((entry) => entry.startsWith(`${id} `));
    assert.equal(epoch, epochs.length, `${id} has one epoch per successful claim`);
    assert.equal(claim !== undefined, isHeld(status) || isClosed(status));
    if (claim)
      assert.equal(this.given.get(`${id} ${claim.claim_epoch}`), claim.claimed_by, `${id} is held by its claimant`);
    if (claim) assert.equal(claim.claim_epoch, epoch);
    const settled = task.retries + Number(isClosed(status));
    assert.equal(settled, this.accepted.get(id) ?? 0, `${id} counts every accepted report once`);
  }
}

function auditDependencies(task: Task, byId: ReadonlyMap<string, Task>): void {
  const dependencies = task.dependencies.map((id) => {
    const dependency = byId.get(id);
    assert.ok(dependency);
    if (!isClosed(dependency.status)) assert.ok(dependency.dependents.includes(task.id));
    return dependency;
  });
  const open = dependencies.filter((dependency) => dependency.status !== 'done');
  if (task.claim_epoch > 0) assert.equal(open.length, 0, `${task.id} was claimed before its dependencies were done`);
  assert.equal(task.blockers, open.length + Number(task.retry_at !== undefined), `number of blockers of ${task.id}`);
  const failed = dependencies.filter((dependency) => dependency.status === 'failed').map(({ id }) => id);
  assert.deepEqual([...task.failed_dependencies].sort(), failed.sort());
}

async function auditCounters(team: Team, tasks: readonly Task[]): Promise<void> {
  const expected = TASK_STATUSES.map((status) => [status, tasks.filter((task) => task.status === status).length]);
  const counted = expected.filter(([, count]) => count !== 0);
  assert.deepEqual(await team.counts(), Object.fromEntries(counted), 'the counters equal the tasks');
  const { counters, blocked } = await team.app.services.coordination.status(team.workspace);
  const waiting = tasks.filter((task) => task.status === 'available' && task.blockers > 0);
  assert.equal(blocked, waiting.length);
  assert.ok(blocked <= counters.mostBlocked, `${blocked} tasks are blocked, at most ${counters.mostBlocked} expected`);
}

async function auditAgent(team: Team, agentId: string, tasks: readonly Task[]): Promise<void> {
  const agent = (await team.app.access.ports.agents.find(agentId))?.value;
  assert.ok(agent);
  const own = tasks.filter((task) => task.claim?.claimed_by === agentId);
  const held = own
    .filter((task) => isHeld(task.status))
    .map(({ id, session, claim_epoch }) => [id, { session, claim_epoch }]);
  assert.deepEqual(agent.held, Object.fromEntries(held), `held tasks of ${agentId}`);
  assert.ok(held.length <= agent.configuration.max_concurrent_tasks, `${agentId} holds ${held.length} tasks`);
  const closed = (status: string) => own.filter((task) => task.status === status).length;
  assert.deepEqual([agent.tasks_completed, agent.tasks_failed], [closed('done'), closed('failed')]);
}
