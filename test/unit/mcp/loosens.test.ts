import assert from 'node:assert/strict';
import { LOOSENING_KINDS } from '../../../functions/src/kernel/loosening.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';

const tools = toolsets.flatMap(({ name: toolset, tools }) =>
  tools.map(({ name, annotations, loosens }) => ({
    name: fullName(toolset, name),
    loosens,
    writes: !annotations.readOnlyHint,
  })),
);

describe('declaration of the limits that a tool may loosen', () => {
  it('exists in every tool that writes, and in no tool that only reads', () => {
    for (const { name, writes, loosens } of tools) assert.equal(loosens !== undefined, writes, name);
  });

  it('mentions every known limit in at least one tool', () => {
    const named = new Set(tools.flatMap(({ loosens = [] }) => loosens));
    assert.deepEqual([...named].sort(), [...LOOSENING_KINDS].sort());
  });

  it('of system.undo mentions every limit except agents, because registrations cannot be undone', () => {
    const loosens = tools.find(({ name }) => name === 'system.undo')?.loosens ?? [];
    assert.deepEqual(
      LOOSENING_KINDS.filter((kind) => !loosens.includes(kind)),
      ['agent'],
    );
  });
});
