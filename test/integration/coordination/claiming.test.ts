import assert from 'node:assert/strict';
import { refusal } from '../../support/refusal.ts';
import { Team } from './team.ts';

describe('claim_task', () => {
  let team: Team;

  /** Claims and completes tasks until no task is claimable, and returns their ids in order. */
  async function drain(agentId: string): Promise<string[]> {
    const drained: string[] = [];
    for (let id = await team.claim(agentId); id !== undefined; id = await team.claim(agentId)) {
      drained.push(id);
      await team.complete(agentId, id);
    }
    return drained;
  }

  beforeEach(() => {
    team = new Team();
  });

  it('creates a lease with a claim epoch and updates the counters', async () => {
    const { id } = await team.createOne();
    const ann = await team.join('ann');
    const outcome = await team.claimOutcome(ann, 60);
    assert.equal(outcome.kind, 'claimed');
    const { status, claim, claim_epoch: epoch } = await team.task(id);
    assert.deepEqual([status, epoch], ['claimed', 1]);
    assert.deepEqual(claim, {
      claimed_by: ann,
      claim_epoch: 1,
      claimed_at: team.now,
      lease_seconds: 60,
      lease_expires_at: new Date(team.now.getTime() + 60_000),
    });
    assert.deepEqual(await team.counts(), { claimed: 1 });
    const agent = await team.app.access.ports.agents.find(ann);
    assert.deepEqual(agent?.value.held, { [id]: { session: outcome.task.session, claim_epoch: 1 } });
  });

  it('returns tasks by priority, then by age, then by position in their batch', async () => {
    const old = await team.create({ priority: 5 }, { priority: 9 }, { priority: 5 });
    team.pass(1);
    const young = await team.create({ priority: 5 }, { priority: 1 }, { priority: 9 });
    const names = new Map([...old, ...young].map(({ id }, index) => [id, index]));
    const drained = await drain(await team.join('ann'));
    const found = drained.map((id) => names.get(id));
    assert.deepEqual(found, [4, 0, 2, 3, 1, 5]);
  });

  it('returns an urgent task first, even if it was created after the others', async () => {
    const ann = await team.join('ann');
    const [first, second] = await team.create({ priority: 5 }, { priority: 5 });
    assert.equal(await team.claim(ann), first?.id);
    const urgent = await team.createOne({ priority: 1 });
    await team.complete(ann, first?.id ?? '');
    assert.deepEqual(await drain(ann), [urgent.id, second?.id]);
  });

  it('returns a task only after all its dependencies are done, even if they form a diamond', async () => {
    const tasks = await team.create(
      { priority: 9 },
      { priority: 2, dependencies: ['task-1'] },
      { priority: 1, dependencies: ['task-1'] },
      { priority: 1, dependencies: ['task-2', 'task-3'] },
    );
    const drained = await drain(await team.join('ann'));
    const expected = [0, 2, 1, 3].map((place) => tasks[place]?.id);
    assert.deepEqual(drained, expected);
    assert.deepEqual(await team.counts(), { done: 4 });
  });

  it('returns no task if no task is claimable or the workspace has no session', async () => {
    const ann = await team.join('ann');
    assert.equal((await team.claimOutcome(ann)).kind, 'none');
    await team.create({}, { dependencies: ['task-1'] });
    await team.claim(ann);
    const bob = await team.join('bob');
    assert.equal((await team.claimOutcome(bob)).kind, 'none');
  });

  it('refuses an agent that is not registered', async () => {
    await team.createOne();
    const error = await refusal(() => team.claim(team.agentId('nobody')));
    assert.equal(error.code, 'NOT_FOUND');
    assert.match(error.details.suggestion ?? '', /register_agent/);
  });

  it('assigns a task only to an agent that has the required capabilities', async () => {
    const [testing, both, anything] = await team.create(
      { priority: 1, required_capabilities: ['testing'] },
      { priority: 2, required_capabilities: ['Coding', 'testing'] },
      { priority: 3 },
    );
    assert.deepEqual(await drain(await team.join('writer', ['writing'])), [anything?.id]);
    assert.deepEqual(await drain(await team.join('tester', ['TESTING'])), [testing?.id]);
    assert.deepEqual(await drain(await team.join('coder', ['coding', 'testing', 'more'])), [both?.id]);
  });

  it("keeps the queue order if the agent's capabilities match too many sets for one query", async () => {
    const skills = Array.from({ length: 40 }, (_, index) => `skill-${index}`);
    const tasks = await team.create(
      ...skills.map((skill, index) => ({ priority: 1 + ((index * 7) % 10), required_capabilities: [skill] })),
    );
    const drained = await drain(await team.join('polymath', skills));
    const expected = tasks.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
    assert.deepEqual(
      drained,
      expected.map((task) => task.id),
    );
  });

  it('returns the task that the agent already holds instead of a second task', async () => {
    const [first] = await team.create({}, {});
    const ann = await team.join('ann');
    await team.claim(ann);
    await team.start(ann, first?.id ?? '');
    const outcome = await team.claimOutcome(ann);
    assert.deepEqual([outcome.kind, outcome.kind !== 'none' && outcome.task.id], ['resumed', first?.id]);
    assert.equal((await team.task(first?.id ?? '')).claim_epoch, 1);
    assert.deepEqual(await team.counts(), { available: 1, in_progress: 1 });
  });

  it("assigns tasks up to the agent's limit, and then returns the oldest held task again", async () => {
    const tasks = await team.create({}, {}, {}, {});
    const ann = await team.join('ann');
    await team.allow(ann, 3);
    const claimed: (string | undefined)[] = [];
    for (let count = 0; count < 3; count++) {
      claimed.push(await team.claim(ann));
      await team.start(ann, claimed[count] ?? '');
      team.pass(1);
    }
    claimed.push(await team.claim(ann));
    const expected = [0, 1, 2, 0].map((place) => tasks[place]?.id);
    assert.deepEqual(claimed, expected);
    await team.complete(ann, tasks[0]?.id ?? '');
    assert.equal(await team.claim(ann), tasks[3]?.id);
  });

  for (const mayHold of [2, 5])
    it(`returns a claimed, unstarted task before a new task if the agent may hold ${mayHold} tasks`, async () => {
      const [first, second, third] = await team.create({}, {}, {});
      const ann = await team.join('ann');
      await team.allow(ann, mayHold);
      assert.equal(await team.claim(ann), first?.id);
      await team.start(ann, first?.id ?? '');
      // The agent ignores the response of this claim, as if it were lost.
      assert.equal(await team.claim(ann), second?.id);
      team.pass(1);
      const outcome = await team.claimOutcome(ann);
      assert.deepEqual([outcome.kind, outcome.kind !== 'none' && outcome.task.id], ['resumed', second?.id]);
      assert.deepEqual(await team.counts(), { available: 1, claimed: 1, in_progress: 1 });
      await team.start(ann, second?.id ?? '');
      await team.complete(ann, first?.id ?? '');
      assert.equal(await team.claim(ann), third?.id);
      assert.equal((await team.task(third?.id ?? '')).claim_epoch, 1);
    });

  it('skips the held tasks that the agent lists, and returns its other held tasks again', async () => {
    const tasks = await team.create({}, {}, {}, {});
    const [first = '', second = '', third = ''] = tasks.map(({ id }) => id);
    const ann = await team.join('ann');
    await team.allow(ann, 3);
    assert.equal(await team.claimBeside(ann, []), first);
    assert.equal(await team.claimBeside(ann, [first]), second);
    await team.start(ann, second);
    team.pass(1);
    assert.equal(await team.claimBeside(ann, [first]), second, 'an unlisted task is returned even if started');
    assert.equal(await team.claimBeside(ann, [first, second]), third);
    assert.equal(await team.claimBeside(ann, [first, second]), third);
    assert.equal(await team.claimBeside(ann, [first, second, third]), first, 'the agent has reached its limit');
    assert.deepEqual(await team.counts(), { available: 1, claimed: 2, in_progress: 1 });
  });

  it('returns one task to concurrent calls of an agent, even if it may hold several tasks', async () => {
    await team.create({}, {}, {});
    const ann = await team.join('ann');
    await team.allow(ann, 3);
    const other = team.anotherInstance();
    const outcomes = await Promise.all([
      team.claimOutcome(ann),
      team.claimOutcome(ann, 60, other),
      team.claimOutcome(ann),
    ]);
    assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), ['claimed', 'resumed', 'resumed']);
    assert.equal(new Set(outcomes.map((outcome) => outcome.kind !== 'none' && outcome.task.id)).size, 1);
    assert.deepEqual(await team.counts(), { available: 2, claimed: 1 });
  });

  it('returns the same task to all concurrent calls of one agent', async () => {
    await team.create({}, {}, {});
    const ann = await team.join('ann');
    const outcomes = await Promise.all([team.claimOutcome(ann), team.claimOutcome(ann), team.claimOutcome(ann)]);
    assert.deepEqual(outcomes.map((outcome) => outcome.kind).toSorted(), ['claimed', 'resumed', 'resumed']);
    assert.deepEqual(await team.counts(), { available: 2, claimed: 1 });
  });

  it('assigns different tasks to agents that call one instance concurrently', async () => {
    const tasks = await team.create(...Array.from({ length: 12 }, () => ({})));
    const agents = await Promise.all(Array.from({ length: 12 }, (_, index) => team.join(`agent-${index}`)));
    const claimed = await Promise.all(agents.map((agentId) => team.claim(agentId)));
    const expected = tasks.map((task) => task.id);
    assert.deepEqual(claimed.toSorted(), expected);
    assert.deepEqual(await team.counts(), { claimed: 12 });
  });

  it('assigns different tasks to agents that call several instances concurrently', async () => {
    await team.create(...Array.from({ length: 8 }, () => ({})));
    const agents = await Promise.all(Array.from({ length: 10 }, (_, index) => team.join(`agent-${index}`)));
    const instances = [team.app, team.anotherInstance(), team.anotherInstance()];
    const outcomes = await Promise.all(
      agents.map((agentId, index) => team.claimOutcome(agentId, 60, instances[index % instances.length])),
    );
    const claimed = outcomes.flatMap((outcome) => (outcome.kind === 'claimed' ? [outcome.task.id] : []));
    assert.equal(new Set(claimed).size, 8);
    assert.equal(claimed.length, 8);
    assert.deepEqual(await team.counts(), { claimed: 8 });
  });

  it('returns a task that became claimable at another instance', async () => {
    const ann = await team.join('ann');
    const bob = await team.join('bob');
    const other = team.anotherInstance();
    const [first, second] = await team.create({}, { dependencies: ['task-1'] });
    assert.equal(await team.claim(ann), first?.id);
    assert.equal((await team.claimOutcome(bob, 60, other)).kind, 'none');
    await team.complete(ann, first?.id ?? '');
    const outcome = await team.claimOutcome(bob, 60, other);
    assert.equal(outcome.kind !== 'none' && outcome.task.id, second?.id);
  });
});
