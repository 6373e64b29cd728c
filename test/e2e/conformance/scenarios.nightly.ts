/** Runs those scenarios of the MCP project's conformance suites that require certain tools and resources. */
import assert from 'node:assert/strict';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { taskToolset } from '../../support/task-toolset.ts';
import { FIXTURE_SCENARIOS, fixtures, TASK_SCENARIOS } from './fixtures.ts';
import { type CredentialProxy, withCredential } from './proxy.ts';
import { runSuite, SUITES, summary } from './suites.ts';

describe('an MCP endpoint with the tools and resources that the scenarios require', () => {
  let endpoint: RunningEndpoint;
  let proxy: CredentialProxy;

  before(async () => {
    endpoint = await serveEndpoint({ ...memoryPorts(), toolsets: [fixtures] });
    proxy = await withCredential(`${endpoint.url}/mcp`, 'leader-key');
  });

  after(async () => {
    proxy?.close();
    await endpoint?.close();
  });

  for (const suite of SUITES)
    for (const scenario of FIXTURE_SCENARIOS)
      it(`passes the scenario ${scenario} of conformance suite ${suite.name}`, async () => {
        const { code, output } = await runSuite(suite, proxy.url, [...suite.revision, '--scenario', scenario]);
        assert.equal(code, 0, summary(output));
      });
});

describe('an MCP endpoint whose calls become tasks', () => {
  let endpoint: RunningEndpoint;
  let proxy: CredentialProxy;

  before(async () => {
    const { toolset, questions } = taskToolset();
    endpoint = await serveEndpoint({ ...memoryPorts(), toolsets: [toolset], questions });
    proxy = await withCredential(`${endpoint.url}/mcp/test`, 'leader-key');
  });

  after(async () => {
    proxy?.close();
    await endpoint?.close();
  });

  const [, next] = SUITES;
  for (const scenario of TASK_SCENARIOS)
    it(`passes the scenario ${scenario}`, async () => {
      assert.ok(next);
      // With a revision, the suite would skip the scenarios of extensions.
      const { code, output } = await runSuite(next, proxy.url, ['--scenario', scenario]);
      assert.equal(code, 0, summary(output));
    });
});
