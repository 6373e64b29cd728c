/** Runs the MCP project's conformance suites against the running endpoint. */
import assert from 'node:assert/strict';
import { MCP_URL, tokenOf } from '../support/endpoint.ts';
import { type CredentialProxy, withCredential } from './proxy.ts';
import { expectedFailures, runSuite, SUITES, summary } from './suites.ts';

describe('the MCP endpoint', () => {
  let proxy: CredentialProxy;

  before(async () => {
    proxy = await withCredential(MCP_URL, await tokenOf('leader'));
  });

  after(() => proxy?.close());

  for (const suite of SUITES)
    it(`passes conformance suite ${suite.name}, except for the expected failures`, async () => {
      const options = [...suite.selection, '--expected-failures', expectedFailures(suite)];
      const { code, output } = await runSuite(suite, proxy.url, options);
      assert.equal(code, 0, summary(output));
    });
});
