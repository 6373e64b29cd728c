import assert from 'node:assert/strict';
import type { AgentLiveness } from '../../../functions/src/domain/agents/liveness.ts';
import { type Expiring, Sweep } from '../../../functions/src/domain/sweep.ts';
import type { TaskSweep } from '../../../functions/src/domain/tasks/sweep.ts';

describe('the sweep', () => {
  it('removes what has expired, though one place cannot be reached', async () => {
    const entries: [string, unknown][] = [];
    const note = (event: string, fields: unknown) => void entries.push([event, fields]);
    const error = new Error('no database');
    const expiring: Expiring[] = [
      { name: 'limits', expire: () => Promise.reject(error) },
      { name: 'metrics', expire: async () => 3 },
    ];
    const tasks = { run: async () => ({ released: 1, ended: 0 }) } as unknown as TaskSweep;
    const liveness = { sweep: async () => 2 } as unknown as AgentLiveness;
    await new Sweep(tasks, liveness, expiring, { info: note, warn: note, error: note }).run();
    assert.deepEqual(entries, [
      ['expiry_failed', { name: 'limits', error }],
      ['swept', { released: 1, ended: 0, offline: 2, expired: { metrics: 3 } }],
    ]);
  });
});
