/** Proxy variables in the environment of `npm start`, of tests and of operators' commands. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { directToThisMachine, nodeUsesProxy, proxyHint } from '../../../scripts/setup/proxy.mjs';
import { forAll } from '../../support/properties.ts';

const LOCAL = ['127.0.0.1', 'localhost', '[::1]', '::1'];
const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'grpc_proxy'];

describe('environment with proxy variables', () => {
  for (const name of names)
    it(`exempts this machine in every exception variable if ${name} is set`, () => {
      const added = directToThisMachine({ [name]: 'http://127.0.0.1:9', no_grpc_proxy: 'a', npm_config_no_proxy: 'b' });
      const lists = ['NO_PROXY', 'no_proxy', 'no_grpc_proxy', 'npm_config_no_proxy'];
      for (const list of lists) for (const host of LOCAL) assert.ok(added[list]?.split(',').includes(host), list);
      assert.deepEqual(nodeUsesProxy({ [name]: 'http://127.0.0.1:9' }), { NODE_USE_ENV_PROXY: '1' });
    });

  it('has a proxy only for https, because Firebase would use an http proxy for this machine', () => {
    for (const [env, https] of [
      [{ http_proxy: 'a' }, 'a'],
      [{ HTTP_PROXY: 'a', HTTPS_PROXY: 'b' }, 'b'],
      [{ HTTP_PROXY: 'a', https_proxy: 'b' }, 'b'],
    ] as const) {
      const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = directToThisMachine(env);
      assert.deepEqual([http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY], ['', '', https, https]);
    }
  });

  it('is unchanged if no variable names a proxy', () => {
    assert.deepEqual(directToThisMachine({ NO_PROXY: 'a', HTTP_PROXY: '', JAVA_TOOL_OPTIONS: '-Xmx1g' }), {});
    assert.deepEqual(nodeUsesProxy({ NO_PROXY: 'a' }), {});
  });

  it('keeps existing exceptions, and does not change if the exceptions are added a second time', () => {
    const host = fc.constantFrom('a.example', '.b.example', '10.0.0.1', 'localhost', 'c:80');
    const list = fc.option(
      fc.array(host).map((hosts) => hosts.join(', ')),
      { nil: undefined },
    );
    forAll(list, list, (lower, upper) => {
      const env = { HTTPS_PROXY: 'http://p:1', no_proxy: lower, NO_PROXY: upper };
      const added = directToThisMachine(env);
      const kept = (text: string | undefined) => text?.split(', ').filter(Boolean) ?? [];
      for (const one of kept(lower)) assert.ok(added['no_proxy']?.split(',').includes(one));
      for (const one of kept(upper)) assert.ok(added['NO_PROXY']?.split(',').includes(one));
      // The variables that are passed on are complete, even if this process already has some of them.
      assert.deepEqual(directToThisMachine({ ...env, ...added }), added);
    });
    assert.equal(directToThisMachine({ http_proxy: 'p', no_proxy: '*' })['NO_PROXY'], '*');
  });

  for (const [before, after] of [
    ['-Dhttp.nonProxyHosts=a|b -Xmx1g', '-Dhttp.nonProxyHosts=localhost|127.*|[::1]|a|b -Xmx1g'],
    ['-DsocksNonProxyHosts="a"', '-DsocksNonProxyHosts="localhost|127.*|[::1]|a"'],
  ])
    it(`exempts this machine in the Java options: ${before}`, () => {
      for (const name of ['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS']) {
        const added = directToThisMachine({ [name]: before });
        assert.deepEqual(added, { [name]: after });
        assert.deepEqual(directToThisMachine(added), {});
      }
    });

  it('adds the proxy variable, without its password, to the error of a failed request', () => {
    assert.equal(proxyHint({}), '');
    assert.equal(proxyHint({ https_proxy: 'http://me:secret@proxy:3128' }), ' (https_proxy sets the proxy proxy:3128)');
  });
});
