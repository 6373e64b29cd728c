/** Switches for approvals. */
import assert from 'node:assert/strict';
import { ASKED, withRule } from '../../../console/src/screens/access/approvals.ts';
import { entries } from '../../contract/catalog.ts';

const approvable = entries.filter(({ tool }) => tool.approvable === true).map(({ name }) => name);
const rule = (tool: string, above_usd: number | null = null) => ({ tool, above_usd, asks: null });

describe('switches for approvals', () => {
  it('name only tools whose calls can require approval, each in one switch', () => {
    const tools = ASKED.flatMap((switched) => switched.tools);
    assert.deepEqual(
      tools.filter((tool) => !approvable.includes(tool)),
      [],
    );
    assert.equal(new Set(tools).size, tools.length);
  });

  it('add and remove the rules of their tools, and keep the limits of other rules', () => {
    const stored = [rule('github.createPR', 5)];
    const both = withRule(stored, ['github.createPR', 'github.commitFiles'], true);
    assert.deepEqual(both, [rule('github.createPR', 5), rule('github.commitFiles')]);
    assert.deepEqual(withRule(both, ['github.commitFiles'], false), stored);
  });
});
