/** Limits on the size of the short tool lists, which a model reads again on each turn. */
import assert from 'node:assert/strict';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { LEADER_LIST, listCost, SMALLER_LISTS, TOOLSET_TOKENS } from '../../scripts/reference/budgets.ts';

describe('short tool list', () => {
  for (const list of [LEADER_LIST, ...SMALLER_LISTS])
    for (const kind of ['agent', 'person'] as const)
      it(`at ${list.address} has at most ${list.maxTools} tools and ${list.maxTokens} tokens for a ${kind} (${list.role})`, () => {
        const { tools, tokens } = listCost(list, undefined, kind);
        assert.ok(tools > 0 && tools <= list.maxTools, `${tools} tools`);
        assert.ok(tokens <= list.maxTokens, `${tokens} tokens`);
      });

  for (const { name } of toolsets)
    it(`at /mcp keeps the tools of ${name} within the token budget of that toolset`, () => {
      const budget = TOOLSET_TOKENS[name] ?? 0;
      const { tokens } = listCost(LEADER_LIST, name);
      assert.ok(tokens <= budget, `${tokens} tokens, and scripts/reference/budgets.ts allows ${budget}`);
    });

  it('has a token budget for each toolset, and the sum of these budgets is within its limit', () => {
    const expected = toolsets.map(({ name }) => name);
    assert.deepEqual(Object.keys(TOOLSET_TOKENS), expected);
    const sum = Object.values(TOOLSET_TOKENS).reduce((total, tokens) => total + tokens, 0);
    assert.ok(sum <= LEADER_LIST.maxTokens, `${sum}`);
  });
});
