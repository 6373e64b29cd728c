/** Limits on the size of the tool lists, which a model reads again on each turn. */
import assert from 'node:assert/strict';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { listCost, MAX_BYTES, MAX_TOKENS, TOOLSET_TOKENS } from '../../scripts/reference/budgets.ts';

describe('tool list at /mcp', () => {
  const names = toolsets.map(({ name }) => name);

  it(`is at most ${MAX_BYTES} bytes and ${MAX_TOKENS} tokens`, () => {
    const { bytes, tokens } = listCost(names);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
    assert.ok(tokens <= MAX_TOKENS, `${tokens} tokens`);
  });

  for (const name of names)
    it(`keeps the tools of ${name} within the token budget of that toolset`, () => {
      const budget = TOOLSET_TOKENS[name] ?? 0;
      const { tokens } = listCost([name]);
      assert.ok(tokens <= budget, `${tokens} tokens, and scripts/reference/budgets.ts allows ${budget}`);
    });

  it('has a token budget for each toolset, and the sum of these budgets is within the limit of the whole list', () => {
    assert.deepEqual(Object.keys(TOOLSET_TOKENS), names);
    const sum = Object.values(TOOLSET_TOKENS).reduce((total, tokens) => total + tokens, 0);
    assert.ok(sum <= MAX_TOKENS, `${sum}`);
  });
});
