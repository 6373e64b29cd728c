/** Limits on the size of the short tool lists, which a model reads again on each turn. */
import assert from 'node:assert/strict';
import { Catalogs } from '../../functions/src/mcp/catalog.ts';
import { SHORT_LISTS } from '../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { LEADER_LIST, listCost, SMALLER_LISTS, TOOLSET_TOKENS } from '../../scripts/reference/budgets.ts';

const { names } = new Catalogs(toolsets);

for (const list of [LEADER_LIST, ...SMALLER_LISTS])
  describe(`tool list of a ${list.role} at ${list.address}`, () => {
    for (const kind of ['agent', 'person'] as const)
      it(`has at most ${list.maxTools} tools and ${list.maxTokens} tokens (${kind})`, () => {
        const { tools, tokens } = listCost(list, undefined, kind);
        assert.ok(tools > 0 && tools <= list.maxTools, `${tools} tools`);
        assert.ok(tokens <= list.maxTokens, `${tokens} tokens`);
      });
  });

describe('short tool lists', () => {
  it('contain only tools that exist, each once', () => {
    const existing = toolsets.flatMap(({ name, tools }) => tools.map((tool) => `${name}.${tool.name}`));
    for (const list of Object.values(SHORT_LISTS)) {
      assert.deepEqual(
        [...list].filter((name) => !existing.includes(name)),
        [],
      );
      assert.equal(new Set(list).size, list.length);
    }
  });

  for (const name of names)
    it(`keep the tools of ${name} within the token budget of that toolset`, () => {
      const budget = TOOLSET_TOKENS[name] ?? 0;
      const { tokens } = listCost(LEADER_LIST, name);
      assert.ok(tokens <= budget, `${tokens} tokens, and scripts/reference/budgets.ts allows ${budget}`);
    });

  it('have a token budget for each toolset, and the sum of these budgets is within the limit of the list', () => {
    assert.deepEqual(Object.keys(TOOLSET_TOKENS), names);
    const sum = Object.values(TOOLSET_TOKENS).reduce((total, tokens) => total + tokens, 0);
    assert.ok(sum <= LEADER_LIST.maxTokens, `${sum}`);
  });
});
