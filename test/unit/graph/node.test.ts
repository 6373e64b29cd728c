/** Usage of an item, as read from its graph node in Firestore. */
import assert from 'node:assert/strict';
import { Timestamp } from '@google-cloud/firestore';
import { nodeFromDocument } from '../../../functions/src/graph/rules/graphNode.ts';

describe('graph node of an item', () => {
  const document = {
    kind: 'task',
    thing_id: 'task-1',
    title: 'Write it',
    workspace: 'alpha',
    owner_uid: null,
    part_of: null,
    ancestors: [],
    status: 'done',
    created_at: Timestamp.fromMillis(0),
    deleted: false,
  };

  it('has an exact cost, without rounding errors of added floating-point numbers', () => {
    const cost_usd = 0.1 + 0.2;
    assert.notEqual(cost_usd, 0.3);
    assert.equal(nodeFromDocument({ ...document, totals: { counts: {}, cost_usd } }).totals.cost_usd, 0.3);
  });

  it('has a cost of zero if its document has no cost field', () =>
    assert.equal(nodeFromDocument({ ...document, totals: { counts: {} } }).totals.cost_usd, 0));
});
