import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { AttemptRecord } from '../src/task/record.ts';
import { newFolder, removeFolder } from './support/folders.ts';

describe('AttemptRecord', () => {
  let folder: string;

  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => removeFolder(folder));

  it("contains the attempt's branch if the attempt does not use the task's branch", () => {
    const task = { taskId: 't1', epoch: 1, description: 'A task', branch: 'task/1' };
    const runner = {
      mark: 'm',
      hub: 'http://127.0.0.1:9/mcp',
      agentId: 'a1',
      leaseSeconds: 120,
      worktree: `${folder}/worktree`,
    };
    const record = AttemptRecord.create(folder, { ...task, ...runner });
    record.useBranch('task-1');
    record.leave();
    const path = `${folder}/t1.1/owner.json`;
    const owner: object = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...owner, startedAt: 'long ago' }));
    const [adopted] = AttemptRecord.adopt(folder);
    assert.equal(adopted?.facts.branch, 'task-1');
    adopted?.discard();
  });
});
