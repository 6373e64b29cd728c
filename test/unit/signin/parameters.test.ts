import assert from 'node:assert/strict';
import { addressOf, parametersIn } from '../../../functions/src/signin/rules/authorization.ts';

const MCP = 'https://hub.example/mcp';

/** Returns the resource of a query with these resources in this order. */
function resourceOf(...resources: readonly string[]): string | undefined {
  const query = new URLSearchParams();
  for (const one of resources) query.append('resource', one);
  return parametersIn(query)('resource');
}

describe('sign-in parameters', () => {
  it('may repeat one resource in equivalent forms', () => {
    assert.equal(resourceOf(MCP), MCP);
    for (const again of [MCP, `${MCP}/`, 'https://HUB.example/mcp', 'HTTPS://hub.example:443/mcp', ''])
      assert.equal(resourceOf(MCP, again), MCP, again);
    assert.equal(resourceOf('', MCP), MCP);
    assert.equal(resourceOf(''), undefined);
    assert.equal(resourceOf(), undefined);
  });

  it('are rejected with two different resources', () => {
    for (const other of [`${MCP}/todo`, 'https://hub.example/MCP', 'https://other.example/mcp', 'mcp'])
      assert.throws(() => resourceOf(MCP, other), { code: 'invalid_target' }, other);
  });

  it('must not be repeated, except the resource', () => {
    const query = new URLSearchParams('code=one&state=&resource=a&resource=a');
    assert.equal(parametersIn(query)('code'), 'one');
    assert.equal(parametersIn(query)('state'), undefined, 'an empty value counts as omitted');
    for (const name of ['code', 'client_id', 'redirect_uri', 'scope', 'refresh_token'])
      assert.throws(
        () => parametersIn(new URLSearchParams(`${name}=one&${name}=one`)),
        { code: 'invalid_request' },
        name,
      );
  });

  it('are compared without a query and without trailing slashes', () => {
    assert.equal(addressOf(`${MCP}//?toolsets=todo`), MCP);
    assert.equal(addressOf('not a URL'), 'not a URL');
  });
});
