import assert from 'node:assert/strict';
import { claimTask } from '../src/hub/claim.ts';
import { HubRefusal, HubUnreachable } from '../src/hub/connection.ts';
import type { ClaimedTask, ClaimWishes } from '../src/hub/hub.ts';

const WISHES: ClaimWishes = { tools: ['CLAUDECODE'], leaseSeconds: 120, waitMs: 0 };

/** Hub that returns the same task for the same idempotency key. Requests and responses can be lost. */
class UnsteadyHub {
  readonly claims = new Map<string, ClaimedTask>();
  private readonly weather: ('fine' | 'request lost' | 'answer lost' | 'refused')[];

  constructor(...weather: ('fine' | 'request lost' | 'answer lost' | 'refused')[]) {
    this.weather = weather;
  }

  claim = async (_wishes: ClaimWishes, key: string): Promise<ClaimedTask> => {
    const weather = this.weather.shift() ?? 'fine';
    if (weather === 'refused') throw new HubRefusal('claim', 'CONFLICT', 'It is done.');
    if (weather === 'request lost') throw new HubUnreachable('no route');
    const task = this.claims.get(key) ?? taskOf(`task-${this.claims.size + 1}`);
    this.claims.set(key, task);
    if (weather === 'answer lost') throw new HubUnreachable('connection reset');
    return task;
  };
}

function taskOf(id: string): ClaimedTask {
  const texts = { description: 'A task', instructions: 'Do it', branch: 'a-branch' };
  return { id, epoch: 1, tool: 'CLAUDECODE', ...texts, config: {}, attempt: 1, messages: [] };
}

describe('claimTask', () => {
  const output: string[] = [];
  const options = {
    retryMs: 1,
    shutdown: new AbortController().signal,
    say: (message: string) => void output.push(message),
  };

  it('claims exactly one task, even if requests and responses are lost', async () => {
    const hub = new UnsteadyHub('request lost', 'answer lost', 'request lost', 'answer lost');
    assert.equal((await claimTask(hub, WISHES, options))?.id, 'task-1');
    assert.equal(hub.claims.size, 1);
    assert.equal(output.length, 1, 'the outage is reported once');
  });

  it('claims another task each time it is called', async () => {
    const hub = new UnsteadyHub();
    assert.equal((await claimTask(hub, WISHES, options))?.id, 'task-1');
    assert.equal((await claimTask(hub, WISHES, options))?.id, 'task-2');
  });

  it('does not retry if the hub refuses the claim or the runner ends', async () => {
    await assert.rejects(claimTask(new UnsteadyHub('refused'), WISHES, options), HubRefusal);
    const shutdown = AbortSignal.abort();
    const hub = new UnsteadyHub('answer lost');
    assert.equal(await claimTask(hub, WISHES, { ...options, shutdown }), undefined);
    assert.equal(hub.claims.size, 1);
  });
});
