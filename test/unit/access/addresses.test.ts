import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Addresses, belowMcp, isLoopback, metadataUrlOf } from '../../../functions/src/access/rules/addresses.ts';
import { forAll } from '../../support/properties.ts';

const ORIGIN = 'https://muster.example';
const ROOT = { issuer: ORIGIN, mcp: `${ORIGIN}/mcp` };
const FUNCTION = 'https://us-central1-project.cloudfunctions.net/mcp';
const OWN = { issuer: FUNCTION, mcp: FUNCTION };
const mainOf = (publicUrl: string | undefined) => new Addresses({ publicUrl, functionUrl: undefined }).main;

describe('public address', () => {
  for (const written of [ORIGIN, `${ORIGIN}/`, `${ORIGIN}/mcp`, `${ORIGIN}/mcp/`, 'HTTPS://Muster.Example:443/mcp'])
    it(`is accepted as an origin: ${written}`, () => assert.deepEqual(mainOf(written), ROOT));

  it('keeps the port of the configured URL', () =>
    assert.deepEqual(mainOf('http://localhost:5005/mcp'), {
      issuer: 'http://localhost:5005',
      mcp: 'http://localhost:5005/mcp',
    }));

  it('has the path of the configured URL if that path is neither / nor /mcp', () => {
    assert.deepEqual(mainOf(FUNCTION), OWN);
    assert.deepEqual(mainOf(`${FUNCTION}/`), OWN);
    const below = `${ORIGIN}/agents/mcp`;
    assert.deepEqual(mainOf(below), { issuer: below, mcp: below });
  });

  for (const refused of [
    undefined,
    '',
    'muster.example',
    'http://muster.example',
    'http://muster.example/mcp',
    'http://10.0.0.1',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'ftp://localhost',
    'javascript:alert(1)',
    'https://user@muster.example',
    'https://muster.example/mcp?toolsets=todo',
    'https://muster.example/mcp#top',
  ])
    it(`is undefined if the configured URL is ${refused}`, () => assert.equal(mainOf(refused), undefined));

  it('may use plain http only on the loopback interface', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      assert.equal(isLoopback(host), true);
      assert.equal(mainOf(`http://${host}:8080`)?.issuer, `http://${host}:8080`);
    }
    for (const host of ['localhost.', 'localhost.example', '127.0.0.2', '0.0.0.0', '[::]', '::1', ''])
      assert.equal(isLoopback(host), false, host);
  });
});

describe('public address that the server states in the response to a request', () => {
  const addresses = new Addresses({ publicUrl: ORIGIN, functionUrl: FUNCTION });
  const functionHost = 'us-central1-project.cloudfunctions.net';

  it('is the one of the two configured addresses that has the host of the request', () => {
    assert.deepEqual(addresses.of('muster.example'), ROOT);
    assert.deepEqual(addresses.of('MUSTER.example'), ROOT);
    assert.deepEqual(addresses.of(functionHost), OWN);
    assert.deepEqual(addresses.at(functionHost), OWN);
  });

  it('is the configured public URL if the host of the request is unknown', () => {
    for (const host of [undefined, '', 'evil.example', 'muster.example.evil.example', 'muster.example:444']) {
      assert.deepEqual(addresses.of(host), ROOT, host);
      assert.equal(addresses.at(host), undefined, host);
    }
    forAll(fc.string(), (host) => assert.ok([ORIGIN, FUNCTION].includes(addresses.of(host)?.issuer ?? '')));
  });

  it('is undefined if the deployment has no valid public address', () => {
    for (const publicUrl of [undefined, 'http://muster.example']) {
      const closed = new Addresses({ publicUrl, functionUrl: FUNCTION });
      assert.equal(closed.of(functionHost), undefined);
      assert.equal(closed.of('muster.example'), undefined);
    }
  });

  it('has the host name of the request if that name stands for this machine', () => {
    const own = new Addresses({
      publicUrl: 'http://127.0.0.1:5005',
      functionUrl: 'http://127.0.0.1:5001/demo/us-central1/mcp',
    });
    for (const name of ['localhost', '127.0.0.1']) {
      const origin = `http://${name}:5005`;
      assert.deepEqual(own.of(`${name}:5005`), { issuer: origin, mcp: `${origin}/mcp` });
      const path = `http://${name}:5001/demo/us-central1/mcp`;
      assert.deepEqual(own.of(`${name}:5001`), { issuer: path, mcp: path });
    }
    assert.equal(own.of('localhost:5006')?.issuer, 'http://127.0.0.1:5005');
  });

  it('is the configured public URL if the function has the same host', () => {
    const same = new Addresses({ publicUrl: ORIGIN, functionUrl: `${ORIGIN}/function/mcp` });
    assert.deepEqual(same.of('muster.example'), ROOT);
  });
});

describe('address of the OAuth metadata', () => {
  it('is below the root of the origin, followed by the path of the MCP endpoint', () => {
    for (const [path, found] of [
      ['/mcp', '/mcp'],
      ['/mcp/', '/mcp'],
      ['/', '/mcp'],
      ['', '/mcp'],
      ['/mcp/todo', '/mcp/todo'],
      ['/mcp/todo/readonly/', '/mcp/todo/readonly'],
      ['/todo', '/mcp/todo'],
    ] as const)
      assert.equal(metadataUrlOf(ROOT, path), `${ORIGIN}/.well-known/oauth-protected-resource${found}`, path);
  });

  it('is below the path of the function if the endpoint has the host of the function', () => {
    for (const [path, found] of [
      ['/mcp', ''],
      ['/', ''],
      ['/todo', '/todo'],
      ['/mcp/todo', '/todo'],
    ] as const)
      assert.equal(metadataUrlOf(OWN, path), `${FUNCTION}/.well-known/oauth-protected-resource${found}`, path);
  });

  it('contains the path of the MCP endpoint only once', () => {
    for (const [path, below] of [
      ['', ''],
      ['/', ''],
      ['/mcp', ''],
      ['//mcp//todo//', '/todo'],
      ['/mcp/mcp', '/mcp'],
      ['/mcps', '/mcps'],
    ] as const)
      assert.equal(belowMcp(path), below, path);
  });
});
