import assert from 'node:assert/strict';
import {
  instructedBy,
  lostAccessChanges,
  ownerState,
} from '../../../functions/src/toolsets/coordination/rules/ownerless.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { sampleCodingTask, sampleTask, versionOf } from '../../support/builders.ts';

const NOW = new Date('2030-02-01T00:00:00.000Z');
const coding = sampleCodingTask();
const ofRun: Task = sampleTask({ id: 'run-abc-one-1', owner_uid: 'ben' });

describe('task that carries out instructions of its owner', () => {
  it('is a coding task or a step of a run, but not a task of a plan', () => {
    assert.equal(instructedBy(coding), coding.coding.owner_uid);
    assert.equal(instructedBy(ofRun), 'ben');
    assert.equal(instructedBy(sampleTask({ owner_uid: 'ben' })), undefined);
  });

  const asked: string[] = [];
  const ports = (standing: 'works' | 'out' | 'unknown') => ({
    ownerRoles: {
      stateOf: async (uid: string, workspace: string) => {
        asked.push(`${uid} in ${workspace}`);
        return standing;
      },
    },
  });

  it('may be claimed only if the current role of the owner, which is read first, permits it', async () => {
    asked.length = 0;
    const other = { owner_uid: 'somebody-else' };
    for (const standing of ['works', 'out', 'unknown'] as const) {
      assert.equal(await ownerState(ports(standing), coding, other), standing);
      assert.equal(await ownerState(ports(standing), ofRun, other), standing);
    }
    assert.deepEqual(
      [...new Set(asked)],
      [`${coding.coding.owner_uid} in ${coding.workspace}`, `ben in ${ofRun.workspace}`],
    );
  });

  it("is claimed without reading the owner's role if the owner also owns the agent", async () => {
    asked.length = 0;
    const own = { owner_uid: coding.coding.owner_uid };
    assert.equal(await ownerState(ports('out'), coding, own), 'works');
    assert.equal(await ownerState(ports('out'), sampleTask({ owner_uid: 'ben' }), own), 'works');
    assert.deepEqual(asked, []);
  });

  it('is cancelled with an error that names the lost role if the owner loses access', () => {
    const changes = lostAccessChanges(versionOf<Task>(coding), NOW);
    const replaced = changes.find((change) => change.kind === 'replaceTask');
    assert.ok(replaced);
    assert.equal(replaced.task.status, 'cancelled');
    assert.equal(replaced.task.coding?.failure?.class, 'cancelled');
    assert.match(String(replaced.task.error), /^Cancelled: the owner no longer has the role worker in the workspace/);
  });
});
