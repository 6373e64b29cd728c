import assert from 'node:assert/strict';
import { addressOf, parametersIn } from '../../../functions/src/signin/rules/authorization.ts';

const MCP = 'https://hub.example/mcp';

/** Returns the resource that a query with these resources selects. */
function resourceOf(...resources: readonly string[]): string | undefined {
  const query = new URLSearchParams();
  for (const one of resources) query.append('resource', one);
  return parametersIn(query)('resource');
}

describe('query parameters of a sign-in', () => {
  it('may name one resource several times, in equivalent forms', () => {
    assert.equal(resourceOf(MCP), MCP);
    for (const again of [MCP, `${MCP}/`, 'https://HUB.example/mcp', 'HTTPS://hub.example:443/mcp', ''])
      assert.equal(resourceOf(MCP, again), MCP, again);
    assert.equal(resourceOf('', MCP), MCP);
    assert.equal(resourceOf(''), undefined);
    assert.equal(resourceOf(), undefined);
  });

  it('are rejected if they name two different resources', () => {
    for (const other of [`${MCP}/todo`, 'https://hub.example/MCP', 'https://other.example/mcp', 'mcp'])
      assert.throws(() => resourceOf(MCP, other), { code: 'invalid_target' }, other);
  });

  it('may occur only once, except the parameter "resource"', () => {
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

  it('match a resource even if its query or its trailing slashes differ', () => {
    assert.equal(addressOf(`${MCP}//?toolsets=todo`), MCP);
    assert.equal(addressOf('not a URL'), 'not a URL');
  });

  it('are named in single quotes in errors, because RFC 6749 does not allow double quotes', () => {
    const message = "Duplicate parameter 'code'.";
    assert.throws(() => parametersIn(new URLSearchParams('code=one&code=two')), { message });
  });
});
