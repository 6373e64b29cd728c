/** MCP's own conformance suites, against the running endpoint. */
import assert from 'node:assert/strict';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { MCP_URL, tokenOf } from '../support/endpoint.ts';
import { FIXTURE_SCENARIOS, fixtures } from './fixtures.ts';
import { type CredentialProxy, withCredential } from './proxy.ts';
import { expectedFailures, runSuite, SUITES } from './suites.ts';

describe('conformance', () => {
  describe('of the endpoint', () => {
    let proxy: CredentialProxy;

    before(async () => {
      proxy = await withCredential(MCP_URL, await tokenOf('leader'));
    });

    after(() => proxy.close());

    for (const suite of SUITES) {
      it(`holds by ${suite.name}, but for what is expected to fail`, async () => {
        const options = [...suite.selection, '--expected-failures', expectedFailures(suite)];
        const { code, output } = await runSuite(suite, proxy.url, options);
        assert.equal(code, 0, summary(output));
      });
    }
  });

  describe('of the same code with fixtures', () => {
    let endpoint: RunningEndpoint;
    let proxy: CredentialProxy;

    before(async () => {
      endpoint = await serveEndpoint({ ...memoryPorts(), toolsets: [fixtures] });
      proxy = await withCredential(`${endpoint.url}/mcp`, 'leader-key');
    });

    after(async () => {
      proxy.close();
      await endpoint.close();
    });

    for (const suite of SUITES) {
      for (const scenario of FIXTURE_SCENARIOS) {
        it(`holds in ${scenario} by ${suite.name}`, async () => {
          const { code, output } = await runSuite(suite, proxy.url, [
            ...suite.revision,
            '--scenario',
            scenario,
          ]);
          assert.equal(code, 0, summary(output));
        });
      }
    }
  });
});

/** The suites' output ends with what matters. */
function summary(output: string): string {
  return output.slice(-6000);
}
