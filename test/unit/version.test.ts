import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { VERSION } from '../../functions/src/config.ts';
import { VERSION as RUNNER_VERSION } from '../../runner/src/version.ts';

describe('the version that clients are told', () => {
  for (const file of [
    '../../package.json',
    '../../server.json',
    '../../functions/package.json',
    '../../runner/package.json',
    '../../packages/muster/package.json',
    '../../functions/upload/package.json',
    '../../plugins/muster/.claude-plugin/plugin.json',
    '../../plugins/muster/gemini-extension.json',
  ]) {
    it(`is that of ${file.replace('../../', '')}`, () => {
      const { version } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
      assert.equal(VERSION, version);
      assert.equal(RUNNER_VERSION, version);
    });
  }

  it('is that of the first part of the changelog, which says what to do before one deploys it', () => {
    const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
    const [, first = ''] = changelog.split(/^(?=## \[)/m);
    assert.match(first, new RegExp(`^## \\[${VERSION}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'));
    assert.match(first, /^### Before you deploy\n\n(- |Nothing\.$)/m);
  });
});
