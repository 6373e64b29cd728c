/** A deployed console shows the public address of the hub, but calls the function at the function's own address. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { z } from 'zod';
import { root } from '../../../scripts/project.mjs';
import { builtIn } from '../../../scripts/setup/console.mjs';

const PROJECT = 'muster-team';
const OWN = `https://europe-west1-${PROJECT}.cloudfunctions.net/mcp`;
const loaded = z.looseObject({ endpoint: z.string(), address: z.string() });
const page = z.object({ loadDeployment: z.custom<() => Promise<unknown>>((value) => typeof value === 'function') });

describe('hub address that the console shows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const { fetch } = globalThis;
  before(() => {
    globalThis.fetch = async () => Response.json({ apiKey: 'key', projectId: PROJECT });
  });
  after(() => {
    globalThis.fetch = fetch;
    rmSync(folder, { recursive: true });
  });

  /** Builds a page with these parameters, and returns the deployment's addresses that the page reads. */
  async function deployment(parameters: string, project: string | undefined = PROJECT) {
    writeFileSync(join(folder, `.env.${PROJECT}`), `REGION=europe-west1\n${parameters}`);
    const reported = builtIn(project, folder);
    const outfile = join(folder, `${Math.random()}.mjs`);
    await build({
      entryPoints: [`${root}/console/src/deployment.ts`],
      bundle: true,
      format: 'esm',
      outfile,
      logLevel: 'error',
      define: {
        'import.meta.env.MODE': '"production"',
        __REGION__: JSON.stringify(reported.region),
        __ADDRESS__: JSON.stringify(reported.address),
      },
    });
    const { loadDeployment } = page.parse({ ...(await import(outfile)) });
    return loaded.parse(await loadDeployment());
  }

  for (const [parameters, address] of [
    ['PUBLIC_URL=https://muster.example', 'https://muster.example/mcp'],
    ['PUBLIC_URL=https://muster.example/mcp/', 'https://muster.example/mcp'],
    ['', OWN],
  ] as const)
    it(`is ${address} with ${parameters || 'no public address'}`, async () => {
      const { endpoint, address: shown } = await deployment(parameters);
      assert.equal(shown, address);
      assert.equal(endpoint, OWN);
    });
});
