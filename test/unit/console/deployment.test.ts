/** Settings of a deployed console: the hub's public address, the function's own address, the key for push messages. */
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
const loaded = z.looseObject({ endpoint: z.string(), address: z.string(), pushKey: z.string().optional() });
const SETTINGS = { apiKey: 'key', projectId: PROJECT, appId: '1:2:web:3', messagingSenderId: '2' };
const page = z.object({ loadDeployment: z.custom<() => Promise<unknown>>((value) => typeof value === 'function') });

describe('deployment of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const { fetch } = globalThis;
  /** Settings of the project, which Firebase Hosting serves. */
  let settings: object;
  before(() => {
    globalThis.fetch = async () => Response.json(settings);
  });
  beforeEach(() => {
    settings = SETTINGS;
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
        __WEB_PUSH_KEY__: JSON.stringify(reported.webPushKey),
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
    it(`has the address ${address} with ${parameters || 'no public address'}`, async () => {
      const { endpoint, address: shown } = await deployment(parameters);
      assert.equal(shown, address);
      assert.equal(endpoint, OWN);
    });

  it('has the key for push messages only if Cloud Messaging can register the web app', async () => {
    assert.equal((await deployment('WEB_PUSH_KEY=BKey-1_x')).pushKey, 'BKey-1_x');
    assert.equal((await deployment('WEB_PUSH_KEY=')).pushKey, undefined);
    settings = { ...SETTINGS, appId: undefined };
    assert.equal((await deployment('WEB_PUSH_KEY=BKey-1_x')).pushKey, undefined);
    settings = { ...SETTINGS, messagingSenderId: undefined };
    assert.equal((await deployment('WEB_PUSH_KEY=BKey-1_x')).pushKey, undefined);
  });
});
