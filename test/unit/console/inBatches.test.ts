import assert from 'node:assert/strict';
import { inBatches } from '../../../console/src/calls/inBatches.ts';

const ITEMS = Array.from({ length: 120 }, (_, index) => index);

describe('console action on many tasks', () => {
  let sent: number[];
  let reported: number[];
  beforeEach(() => {
    sent = [];
    reported = [];
  });

  const course = {
    size: 50,
    send: async (group: readonly number[]): Promise<readonly (Error | undefined)[]> => {
      sent.push(group.length);
      return group.map(() => undefined);
    },
    progress: (done: number) => void reported.push(done),
    isStopped: () => false,
  };

  it('processes one group of tasks at a time, and reports its progress', async () => {
    assert.deepEqual(await inBatches(ITEMS, course), { refused: [], left: [] });
    assert.deepEqual(sent, [50, 50, 20]);
    assert.deepEqual(reported, [0, 50, 100, 120]);
  });

  it('stops after the current group if the person asks, and reports the remaining tasks', async () => {
    const { left } = await inBatches(ITEMS, { ...course, isStopped: () => sent.length === 1 });
    assert.deepEqual(sent, [50]);
    assert.equal(left.length, 70);
    assert.equal(left[0], 50);
  });

  it('continues after a refused task, and reports that task with the reason', async () => {
    const send = async (group: readonly number[]) => {
      sent.push(group.length);
      return group.map((item) => (item === 60 ? new Error('It is done.') : undefined));
    };
    const outcome = await inBatches(ITEMS, { ...course, send });
    assert.deepEqual(outcome, { refused: [{ item: 60, why: 'It is done.' }], left: [] });
  });

  it('stops if a group gets no response, because the outcome of that group is unknown', async () => {
    const send = async (): Promise<never> => {
      throw new Error('The server has not answered.');
    };
    const { refused, left } = await inBatches(ITEMS, { ...course, send });
    assert.equal(refused.length, 50);
    assert.equal(left.length, 70);
    assert.deepEqual(reported, [0, 50]);
  });
});
