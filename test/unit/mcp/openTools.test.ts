/** Tools that every credential may call, even a credential that is restricted to other toolsets. */
import assert from 'node:assert/strict';
import { permissionError } from '../../../functions/src/access/rules/permissionCheck.ts';
import { Catalogs } from '../../../functions/src/mcp/catalog.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { agentOf } from '../../support/principals.ts';

describe('tools that every credential may call', () => {
  const catalogs = new Catalogs(toolsets);
  const methodsAt = (chosen: readonly string[], allowed?: readonly string[]) =>
    catalogs.of(
      { toolsets: chosen, readonly: false, workspace: undefined, dialect: 'prefixed', listing: 'whole' },
      allowed,
    ).methods;
  const ofAccess = (methods: readonly string[]) => methods.filter((name) => name.startsWith('access.')).sort();

  it('are listed for a credential that is restricted to other toolsets', () => {
    const methods = methodsAt(catalogs.names, ['todo']);
    assert.deepEqual(ofAccess(methods), ['access.explain', 'access.whoami']);
    assert.ok(methods.includes('todo.add_task'));
    assert.ok(!methods.some((name) => name.startsWith('coordination.')));
    assert.ok(ofAccess(methodsAt(catalogs.names)).length > 2, 'unrestricted credentials find all');
  });

  it('are not listed at a URL that does not select their toolset', () =>
    assert.deepEqual(ofAccess(methodsAt(['todo'], ['todo'])), []));

  it('only read data, loosen no limit, and still require a permission check', () => {
    const restricted = { ...agentOf('a', 'ada', 'worker'), toolsets: ['todo'] };
    const { tools } = catalogs.of(
      { toolsets: catalogs.names, readonly: false, workspace: undefined, dialect: 'prefixed', listing: 'whole' },
      ['todo'],
    ).directory;
    const open = tools.filter(({ openToAll }) => openToAll);
    assert.deepEqual(open.map(({ fullName }) => fullName).sort(), ['access.explain', 'access.whoami']);
    for (const tool of tools.filter(({ toolset }) => toolset === 'access')) {
      const refusal = permissionError(restricted, 'default', { ...tool, what: tool.fullName });
      assert.equal(refusal === undefined, tool.openToAll, tool.fullName);
      assert.ok(!tool.openToAll || !tool.writes, tool.fullName);
    }
  });
});
