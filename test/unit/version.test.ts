import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../../functions/src/config.ts';
import { VERSION as RUNNER_VERSION } from '../../runner/src/version.ts';
import { root } from '../../scripts/project.mjs';
import { writeVersion } from '../../scripts/setup/version.mjs';

const SOURCES = ['functions/src/config.ts', 'runner/src/version.ts'];
const LOCKFILE = 'package-lock.json';

const MANIFESTS = [
  'package.json',
  'server.json',
  'functions/package.json',
  'runner/package.json',
  'rtdb-lite/package.json',
  'console/package.json',
  'packages/muster/package.json',
  'plugins/muster/.claude-plugin/plugin.json',
  'plugins/muster/gemini-extension.json',
];

describe('version that Muster reports to clients', () => {
  for (const file of MANIFESTS)
    it(`is the same in ${file}`, () => {
      const { version } = JSON.parse(readFileSync(join(root, file), 'utf8'));
      assert.equal(VERSION, version);
      assert.equal(RUNNER_VERSION, version);
    });

  it('is copied to every file by npm run version', () => {
    const folder = mkdtempSync(join(tmpdir(), 'version-'));
    try {
      for (const file of [...MANIFESTS, LOCKFILE, ...SOURCES]) cpSync(join(root, file), join(folder, file));
      writeVersion(folder, '98.7.6');
      const versionIn = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')).version;
      for (const file of [...MANIFESTS, LOCKFILE]) assert.equal(versionIn(file), '98.7.6', file);
      for (const file of SOURCES) assert.match(readFileSync(join(folder, file), 'utf8'), /VERSION = '98\.7\.6'/);
      const { packages } = JSON.parse(readFileSync(join(folder, LOCKFILE), 'utf8'));
      assert.equal(packages.functions.version, '98.7.6');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is that of the latest changelog section, which contains the steps before a deployment', () => {
    const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
    const [, first = ''] = changelog.split(/^(?=## \[)/m);
    assert.match(first, new RegExp(`^## \\[${VERSION}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'));
    assert.match(first, /^### Before you deploy\n\n(- |Nothing\.$)/m);
  });
});
