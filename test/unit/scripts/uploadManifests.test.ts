/** Cloud Build installs, next to the bundle, the package versions with which the tests ran. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { root } from '../../../scripts/project.mjs';
import { uploadManifests } from '../../../scripts/setup/uploadManifests.mjs';

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({ version: z.string().optional(), integrity: z.string().optional(), dev: z.boolean().optional() }),
  ),
});

const FRAMEWORK = '@google-cloud/functions-framework';

describe('lockfile that is uploaded with the functions', () => {
  const texts = uploadManifests();
  const { packages } = lockfile.parse(JSON.parse(texts['package-lock.json']));
  const ours = lockfile.parse(JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8'))).packages;
  const paths = Object.keys(packages).filter((path) => path !== '');

  it('has the same package versions as the lockfile in the repository root', () => {
    for (const path of paths) {
      assert.equal(packages[path]?.version, ours[path]?.version, path);
      assert.equal(packages[path]?.integrity, ours[path]?.integrity, path);
    }
  });

  it('installs the functions framework, but no SDKs, because the bundle contains the SDKs', () => {
    const installed = paths.filter((path) => packages[path]?.dev !== true);
    assert.ok(installed.includes(`node_modules/${FRAMEWORK}`));
    assert.ok(installed.includes('node_modules/express'), 'the framework depends on it');
    for (const sdk of ['firebase-admin', 'firebase-functions'])
      assert.equal(packages[`node_modules/${sdk}`]?.dev, true, sdk);
  });

  it('matches the package.json that is uploaded with it', () => {
    const { dependencies, devDependencies } = JSON.parse(texts['package.json']);
    assert.deepEqual(dependencies, { [FRAMEWORK]: ours[`node_modules/${FRAMEWORK}`]?.version });
    assert.deepEqual(packages[''], { ...packages[''], dependencies, devDependencies });
  });
});
