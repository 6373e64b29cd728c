import assert from 'node:assert/strict';
import fc from 'fast-check';
import { frameOf, KEEP_ALIVE_FRAME, RETRY_FRAME, withPauses } from '../../../functions/src/mcp/http/streams.ts';
import { forAll } from '../../support/properties.ts';
import { parseFrame } from '../../support/sse.ts';

describe('frames of server-sent events', () => {
  it('preserve an event, except that its line ends are unified', () => {
    const word = fc.string({ unit: 'grapheme' }).filter((text) => !/[\0\r\n]/.test(text));
    forAll(word, word, fc.string({ unit: 'binary' }), (id, event, data) => {
      const frame = frameOf({ id, event, data });
      assert.ok(frame.endsWith('\n\n'));
      assert.ok(!/\n\n|\r/.test(frame.slice(0, -2)), 'a frame contains no empty line');
      const parsed = parseFrame(frame.slice(0, -2));
      assert.deepEqual(parsed, { id, event, data: data.replace(/\r\n|\r/g, '\n') });
    });
  });

  it('are refused if the id or the type of the event has several lines', () => {
    for (const bad of ['a\nb', 'a\rb', 'a\0b']) {
      assert.throws(() => frameOf({ id: bad, data: '' }), RangeError);
      assert.throws(() => frameOf({ event: bad, data: '' }), RangeError);
    }
  });

  it('without an event are parsed as a retry delay or a comment', () => {
    assert.deepEqual(parseFrame(RETRY_FRAME.trimEnd()), { retry: '1000' });
    assert.deepEqual(parseFrame(KEEP_ALIVE_FRAME.trimEnd()), { comment: 'keep-alive' });
  });
});

describe('withPauses', () => {
  async function* numbers(): AsyncGenerator<{ n: number }> {
    yield { n: 1 };
    yield { n: 2 };
  }

  it('requests the next item from its source only when its reader requests an item', async () => {
    let asked = 0;
    const counting = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          asked += 1;
          return { done: false as const, value: { n: asked } };
        },
      }),
    };
    const iterator = withPauses(counting, 60_000);
    assert.deepEqual((await iterator.next()).value, { n: 1 });
    assert.equal(asked, 1);
    await iterator.return();
  });

  it('yields undefined if the source pauses, and then the next item', async () => {
    let release: (value: IteratorResult<{ n: number }>) => void = () => undefined;
    const slow = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise<IteratorResult<{ n: number }>>((resolve) => {
            release = resolve;
          }),
      }),
    };
    const iterator = withPauses(slow, 1);
    assert.equal((await iterator.next()).value, undefined);
    assert.equal((await iterator.next()).value, undefined);
    release({ done: false, value: { n: 1 } });
    assert.deepEqual((await iterator.next()).value, { n: 1 });
  });

  it('ends when its source ends, and closes the source if its reader stops early', async () => {
    const all: unknown[] = [];
    for await (const item of withPauses(numbers(), 60_000)) all.push(item);
    assert.deepEqual(all, [{ n: 1 }, { n: 2 }]);
    let returned = false;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false as const, value: { n: 1 } }),
        return: async () => {
          returned = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    for await (const _ of withPauses(source, 60_000)) break;
    assert.ok(returned);
  });

  it('throws the error that its source throws', async () => {
    async function* broken(): AsyncGenerator<object> {
      yield {};
      throw new Error('broken');
    }
    await assert.rejects(async () => {
      for await (const _ of withPauses(broken(), 60_000));
    }, /broken/);
  });
});
