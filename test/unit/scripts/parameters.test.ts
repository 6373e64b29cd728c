/** Deployment parameters, as the scripts outside the functions read them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointOf, parameterOf } from '../../../scripts/setup/parameters.mjs';

describe('deployment parameters', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parameters-'));
  after(() => rmSync(folder, { recursive: true }));

  before(() => {
    writeFileSync(join(folder, '.env'), 'REGION=us-central1\nPUBLIC_URL=\nWEB_API_KEY=\n');
    writeFileSync(join(folder, '.env.europe'), 'REGION="europe-west1" # near the databases\n');
    writeFileSync(join(folder, '.env.own'), 'PUBLIC_URL=https://a.example\nPUBLIC_URL=https://muster.example/mcp/\n');
  });

  it("come from the project's file, or else from the defaults, or else are empty", () => {
    assert.equal(parameterOf('REGION', 'europe', folder), 'europe-west1');
    assert.equal(parameterOf('REGION', 'another', folder), 'us-central1');
    assert.equal(parameterOf('REGION', undefined, folder), 'us-central1');
    assert.equal(parameterOf('UNKNOWN', 'europe', folder), '');
    assert.equal(parameterOf('PUBLIC_URL', 'europe', folder), '', 'an empty value ends at its line');
  });

  it('include the default region of the repository, for which the console is built', () =>
    assert.equal(parameterOf('REGION', 'a-project-without-parameters'), 'us-central1'));

  it('determine the URL of the endpoint', () => {
    assert.equal(endpointOf('europe', folder), 'https://europe-west1-europe.cloudfunctions.net/mcp');
    assert.equal(endpointOf('own', folder), 'https://muster.example/mcp');
  });
});
