import assert from 'node:assert/strict';
import { currentTraces, traceFields, validTraceparent, withTraces } from '../../../functions/src/kernel/trace.ts';

const HTTP = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const CLIENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const OF_HTTP = {
  'logging.googleapis.com/trace': 'projects/demo/traces/0af7651916cd43dd8448eb211c80319c',
  'logging.googleapis.com/spanId': 'b7ad6b7169203331',
  'logging.googleapis.com/trace_sampled': true,
};
const OF_CLIENT = { client_trace: '4bf92f3577b34da6a3ce929d0e0e4736' };

const fieldsNow = () => traceFields(currentTraces.getStore() ?? {}, 'demo');

describe('the trace of a log entry', () => {
  it('contains the HTTP request and the client, also after a wait and in nested work', async () => {
    const fields = await withTraces({ http: HTTP }, async () => {
      await new Promise(setImmediate);
      return withTraces({ client: CLIENT }, async () => {
        await new Promise(setImmediate);
        return fieldsNow();
      });
    });
    assert.deepEqual(fields, { ...OF_HTTP, ...OF_CLIENT });
    assert.deepEqual(
      withTraces({ client: CLIENT }, () => fieldsNow()),
      OF_CLIENT,
    );
    assert.deepEqual(fieldsNow(), {});
  });

  for (const [value, isValid] of [
    [HTTP, true],
    [CLIENT, true],
    [HTTP.replace('00-', '01-'), false],
    [HTTP.toUpperCase(), false],
    [`${HTTP}-x`, false],
    [HTTP.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)), false],
    [HTTP.replace('b7ad6b7169203331', '0'.repeat(16)), false],
    [`${HTTP}\n`, false],
    ['', false],
    [7, false],
    [undefined, false],
  ] as const)
    it(`is ${isValid ? 'taken from' : 'not taken from'} ${JSON.stringify(value)}`, () =>
      assert.equal(validTraceparent(value), isValid ? value : undefined));
});
