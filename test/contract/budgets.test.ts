/** What a model reads with each of its turns stays within its budget. */
import assert from 'node:assert/strict';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { listCost, MAX_BYTES, MAX_TOKENS, TOOLSET_TOKENS } from '../../scripts/reference/budgets.ts';

describe('the list at /mcp', () => {
  const names = toolsets.map(({ name }) => name);

  it(`is at most ${MAX_BYTES} bytes and ${MAX_TOKENS} tokens`, () => {
    const { bytes, tokens } = listCost(names);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
    assert.ok(tokens <= MAX_TOKENS, `${tokens} tokens`);
  });

  for (const name of names)
    it(`keeps ${name} within its budget`, () => {
      const budget = TOOLSET_TOKENS[name] ?? 0;
      const { tokens } = listCost([name]);
      assert.ok(tokens <= budget, `${tokens} tokens, and scripts/reference/budgets.ts allows ${budget}`);
    });

  it('has budgets for its toolsets alone, which add up', () => {
    assert.deepEqual(Object.keys(TOOLSET_TOKENS), names);
    const sum = Object.values(TOOLSET_TOKENS).reduce((total, tokens) => total + tokens, 0);
    assert.ok(sum <= MAX_TOKENS, `${sum}`);
  });
});
