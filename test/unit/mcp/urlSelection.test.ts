import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { knownPaths, parseSelection, type RoutedSelection } from '../../../functions/src/mcp/urlSelection.ts';
import { forAll } from '../../support/properties.ts';
import { thrownRefusal } from '../../support/refusal.ts';

const EXISTING = ['onboarding', 'system', 'coordination', 'todo'];

function select(url: string, headers: Record<string, string> = {}): RoutedSelection | undefined {
  const [path = '', query = ''] = url.split('?');
  const request = { path, query: new URLSearchParams(query), header: (name: string) => headers[name] };
  return parseSelection(request, EXISTING);
}

const refused = (...call: Parameters<typeof select>) => thrownRefusal(() => select(...call));

describe('parseSelection', () => {
  for (const [url, toolsets, readonly, dialect] of [
    ['/', EXISTING, false, 'prefixed'],
    ['', EXISTING, false, 'prefixed'],
    ['/mcp', EXISTING, false, 'prefixed'],
    ['/mcp/', EXISTING, false, 'prefixed'],
    ['/mcp/readonly', EXISTING, true, 'prefixed'],
    ['/mcp/worker', EXISTING, false, 'prefixed'],
    ['/worker/readonly', EXISTING, true, 'prefixed'],
    ['/mcp/worker?toolsets=todo', ['todo'], false, 'prefixed'],
    ['/readonly', EXISTING, true, 'prefixed'],
    ['/todo', ['todo'], false, 'own'],
    ['/mcp/todo', ['todo'], false, 'own'],
    ['/mcp/todo/readonly', ['todo'], true, 'own'],
    ['/mcp/network', ['onboarding', 'system'], false, 'own'],
    ['/network/readonly', ['onboarding', 'system'], true, 'own'],
    ['/mcp?toolsets=todo,onboarding', ['onboarding', 'todo'], false, 'prefixed'],
    ['/mcp?toolsets=', EXISTING, false, 'prefixed'],
    ['/mcp?readonly=1', EXISTING, true, 'prefixed'],
    ['/mcp?readonly', EXISTING, true, 'prefixed'],
    ['/mcp?readonly=false', EXISTING, false, 'prefixed'],
    ['/mcp?readonly=0', EXISTING, false, 'prefixed'],
  ] as const)
    it(`returns the selection for ${url || 'an empty path'}`, () => {
      const short = url.includes('worker') ? 'worker' : 'short';
      const listing = dialect === 'own' ? 'whole' : toolsets === EXISTING ? short : 'light';
      const rest = { workspace: undefined, protocol: 'mcp' };
      assert.deepEqual(select(url), { toolsets, readonly, dialect, listing, ...rest });
    });

  for (const url of ['/nope', '/mcp/nope', '/mcp/todo/more', '/mcp/mcp', '/rpc/more', '/events', '/mcp/github'])
    it(`returns undefined for the path ${url}`, () => assert.equal(select(url), undefined));

  it('recognizes the path of plain JSON-RPC', () => {
    const at = { dialect: 'dotted', listing: 'light', protocol: 'rpc' };
    const all = { ...at, toolsets: EXISTING, workspace: undefined };
    assert.deepEqual(select('/mcp/rpc'), { ...all, readonly: false });
    assert.deepEqual(select('/rpc/readonly'), { ...all, readonly: true });
    assert.deepEqual(select('/mcp/rpc?toolsets=todo')?.toolsets, ['todo']);
  });

  it('reads the selection from headers too, and combines them with the query', () => {
    assert.deepEqual(select('/mcp', { 'x-mcp-toolsets': 'todo' })?.toolsets, ['todo']);
    assert.equal(select('/mcp', { 'x-mcp-readonly': 'true' })?.readonly, true);
    const both = select('/mcp?toolsets=todo,system', { 'x-mcp-toolsets': 'system, coordination' });
    assert.deepEqual(both?.toolsets, ['system']);
  });

  it('selects everything if all toolsets are requested', () => {
    for (const [url, headers] of [
      ['/mcp?toolsets=all', {}],
      ['/mcp?toolsets=todo,all', {}],
      ['/mcp', { 'x-mcp-toolsets': 'all' }],
    ] as const) {
      const { toolsets, dialect, listing } = select(url, headers) ?? {};
      assert.deepEqual({ toolsets, dialect, listing }, { toolsets: EXISTING, dialect: 'prefixed', listing: 'whole' });
    }
    const narrowed = select('/mcp?toolsets=all', { 'x-mcp-toolsets': 'todo' });
    assert.deepEqual([narrowed?.toolsets, narrowed?.listing], [['todo'], 'whole']);
  });

  it('reports the name of an unknown toolset', () => {
    const { message, details } = refused('/mcp?toolsets=todo,nope');
    assert.equal(message, 'Unknown toolset "nope".');
    assert.match(details.suggestion ?? '', /onboarding, system, coordination, todo/);
  });

  it('rejects an empty list of toolsets', () => {
    assert.equal(refused('/todo?toolsets=system').code, 'VALIDATION_ERROR');
    assert.equal(refused('/mcp?toolsets=todo', { 'x-mcp-toolsets': 'system' }).code, 'VALIDATION_ERROR');
  });

  it('reads the workspace from the query', () => {
    assert.equal(select('/mcp?workspace=alpha-1')?.workspace, 'alpha-1');
    for (const name of ['', '-a', '../b', 'a/b', 'a'.repeat(65), 'ä', '__proto__'])
      assert.equal(refused(`/mcp?workspace=${encodeURIComponent(name)}`).details.field, 'workspace');
  });

  it('accepts every path that the endpoint lists as known', () => {
    for (const path of knownPaths(EXISTING)) assert.ok(select(path), path);
    assert.ok(knownPaths(EXISTING).includes('/mcp/network'));
    assert.ok(!knownPaths(['todo']).includes('/mcp/network'));
  });

  it('returns a selection or throws a MusterError for any URL', () =>
    forAll(fc.webPath(), fc.webQueryParameters(), (path, query) => {
      try {
        select(`${path}?${query}`);
      } catch (error) {
        assert.ok(error instanceof MusterError);
      }
    }));
});
