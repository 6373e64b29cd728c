/** A claim whose request or answer is lost. */
import assert from 'node:assert/strict';
import { claimTask } from '../src/hub/claim.ts';
import { HubRefusal, HubUnreachable } from '../src/hub/connection.ts';
import type { ClaimedTask, ClaimWishes } from '../src/hub/hub.ts';

const WISHES: ClaimWishes = { tools: ['CLAUDECODE'], leaseSeconds: 120, waitMs: 0 };

/** A hub that answers the same key with the same task, behind a network that may lose either way. */
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

describe('a claim', () => {
  const said: string[] = [];
  const options = {
    retryMs: 1,
    shutdown: new AbortController().signal,
    say: (message: string) => void said.push(message),
  };

  it('is one, however often its request and its answer are lost', async () => {
    const hub = new UnsteadyHub('request lost', 'answer lost', 'request lost', 'answer lost');
    assert.equal((await claimTask(hub, WISHES, options))?.id, 'task-1');
    assert.equal(hub.claims.size, 1);
    assert.equal(said.length, 1, 'it is said once that the hub does not answer');
  });

  it('is another one than that before it', async () => {
    const hub = new UnsteadyHub();
    assert.equal((await claimTask(hub, WISHES, options))?.id, 'task-1');
    assert.equal((await claimTask(hub, WISHES, options))?.id, 'task-2');
  });

  it('is not repeated where it is refused, nor once the runner is to end', async () => {
    await assert.rejects(claimTask(new UnsteadyHub('refused'), WISHES, options), HubRefusal);
    const shutdown = AbortSignal.abort();
    const hub = new UnsteadyHub('answer lost');
    assert.equal(await claimTask(hub, WISHES, { ...options, shutdown }), undefined);
    assert.equal(hub.claims.size, 1);
  });
});
