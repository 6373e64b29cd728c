/** A thing in the graph, as it is read. */
import assert from 'node:assert/strict';
import { Timestamp } from '@google-cloud/firestore';
import { nodeFromDocument } from '../../../functions/src/graph/rules/graphNode.ts';

describe('a thing in the graph', () => {
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

  it('has costs without the errors of the additions that made them', () => {
    const cost_usd = 0.1 + 0.2;
    assert.notEqual(cost_usd, 0.3);
    assert.equal(nodeFromDocument({ ...document, totals: { counts: {}, cost_usd } }).totals.cost_usd, 0.3);
  });

  it('has cost nothing if its document is older than the costs', () => {
    assert.equal(nodeFromDocument({ ...document, totals: { counts: {} } }).totals.cost_usd, 0);
  });
});
