import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CoordinationService } from '../../../functions/src/toolsets/coordination/rules/coordination.ts';
import type { CoordinationPorts } from '../../../functions/src/toolsets/coordination/rules/ports.ts';
import { sumCounters } from '../../../functions/src/toolsets/coordination/rules/session.ts';
import {
  COORDINATION_STATUSES,
  capabilityKey,
  coordinationStatus,
  isClosed,
  isHeld,
  priorityWord,
  satisfiedKeys,
  storedStatuses,
  TASK_STATUSES,
  type Task,
} from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { countedBy, countedChange } from '../../../functions/src/toolsets/coordination/rules/taskChanges.ts';
import { START, sampleCodingWork, sampleSession, sampleTask } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { forAll } from '../../support/properties.ts';

describe('sets of required capabilities', () => {
  it('have the same key for any order, letter case and repetition', () => {
    assert.equal(capabilityKey(['Testing', 'coding', 'CODING']), capabilityKey(['coding', 'testing']));
    assert.equal(capabilityKey([]), '');
    assert.notEqual(capabilityKey(['coding']), capabilityKey(['coding', 'testing']));
  });

  it('are satisfied by an agent if they are empty or contain only capabilities of that agent', () => {
    const keys = [[], ['coding'], ['coding', 'testing'], ['writing']].map(capabilityKey);
    assert.deepEqual(satisfiedKeys(keys, ['CODING']), ['', 'coding']);
    assert.deepEqual(satisfiedKeys(keys, ['testing', 'coding', 'x']), ['', 'coding', 'coding|testing']);
    assert.deepEqual(satisfiedKeys(keys, []), ['']);
    assert.deepEqual(satisfiedKeys([], ['coding']), [''], 'a task without requirements is for every agent');
  });

  it('are satisfied if and only if the agent has each of their capabilities', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'A');
    forAll(fc.array(fc.array(name), { maxLength: 6 }), fc.array(name), (required, has) => {
      const satisfied = satisfiedKeys([...new Set(required.map(capabilityKey))], has);
      const lower = has.map((one) => one.toLowerCase());
      for (const set of required) {
        const fits = set.every((one) => lower.includes(one.toLowerCase()));
        assert.equal(satisfied.includes(capabilityKey(set)), fits);
      }
    });
  });
});

describe('countedChange', () => {
  it('moves a task from the counter of its old state to that of its new state', () => {
    const change = countedChange(sampleTask(), sampleTask({ status: 'claimed' }), START);
    const by = { available: -1, claimed: 1 };
    assert.deepEqual(change, { kind: 'count', workspace: 'alpha', session: 'session-1', by, at: START });
  });

  it('only increments a counter if the task is new', () => {
    const change = countedChange(undefined, sampleTask(), START);
    assert.deepEqual(change.kind === 'count' && change.by, { available: 1 });
  });

  it('changes no counter if the state of the task is unchanged', () => {
    const change = countedChange(sampleTask({ retries: 1 }), sampleTask(), START);
    assert.deepEqual(change.kind === 'count' && change.by, {});
  });

  it('counts every task that can be late or blocked', () => {
    const deadline = START;
    const dependencies = ['task-0'];
    const late: Partial<Task>[] = [{ deadline }, { deadline, status: 'in_progress' }];
    const blocked: Partial<Task>[] = [{ dependencies }, { claim_epoch: 1 }, { coding: sampleCodingWork() }];
    const neither: Partial<Task>[] = [{}, { deadline, status: 'done' }, { dependencies, status: 'claimed' }];
    const tasks = [...late, ...blocked, ...neither].map(sampleTask);
    const by = { available: 5, in_progress: 1, done: 1, claimed: 1, may_be_late: 2, may_be_blocked: 3 };
    assert.deepEqual(countedBy([], tasks), by);
  });
});

describe('status of a session', () => {
  it('needs no query of tasks if no task can be late or blocked', async () => {
    const sessionVersion = '1.0';
    const open = { session: sampleSession(), sessionVersion, workspaceVersion: '1.0', readAt: '1.0' };
    // The port `tasks` is missing, so a query for late tasks would fail too.
    const ports = portsOf<CoordinationPorts>({
      sessions: { current: async () => open, counters: async () => ({ ...sumCounters([]), stamp: '', ages: [] }) },
      queue: { count: () => Promise.reject(new Error('queried')) },
      directory: { counts: async () => ({ total: 0, leaders: 0, active: 0, registered: 0, online: 0 }) },
    });
    const { blocked, late } = await new CoordinationService(ports).status('alpha');
    assert.deepEqual([blocked, late.count], [0, 0]);
  });
});

describe('public task states and priorities', () => {
  it('are those that docs/semantics.md lists', () => {
    const words = TASK_STATUSES.map((status) => [status, coordinationStatus(status)]);
    assert.deepEqual(Object.fromEntries(words), {
      available: 'available',
      claimed: 'claimed',
      in_progress: 'in_progress',
      waiting: 'in_progress',
      done: 'done',
      failed: 'failed',
      cancelled: 'failed',
    });
  });

  it('cover every stored state exactly once', () => {
    const stored = COORDINATION_STATUSES.flatMap((word) => {
      for (const status of storedStatuses(word)) assert.equal(coordinationStatus(status), word);
      return [...storedStatuses(word)];
    });
    assert.deepEqual(stored.toSorted(), [...TASK_STATUSES].toSorted());
  });

  it('show a stored priority number as a word', () => {
    const words = Array.from({ length: 10 }, (_, index) => priorityWord(index + 1));
    const expected = ['critical', 'critical', 'high', 'high', 'normal', 'normal', 'low', 'low', 'low', 'low'];
    assert.deepEqual(words, expected);
  });

  it('divide the stored states into available, held and closed', () => {
    for (const status of TASK_STATUSES)
      assert.equal(Number(status === 'available') + Number(isHeld(status)) + Number(isClosed(status)), 1, status);
  });
});
