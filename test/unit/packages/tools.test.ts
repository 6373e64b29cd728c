/** What we tell agents to call: every tool that is named is there. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { INSTRUCTIONS } from '../../../packages/muster/src/connect/instructions.ts';

const root = new URL('../../..', import.meta.url).pathname;

const TOOL = /\b(access|coding|coordination|inbox|onboarding|orchestration|system|todo)_(\w+)/g;

describe('the tools that agents are told to call', () => {
  const told = new Map([['the block for AGENTS.md', INSTRUCTIONS]]);
  for (const file of globSync('plugins/**/*.{md,toml}', { cwd: root }))
    told.set(file, readFileSync(`${root}/${file}`, 'utf8'));

  for (const [name, text] of told) {
    it(`are all there: ${name}`, () => {
      for (const [full, toolset, tool] of text.matchAll(TOOL))
        assert.ok(existsSync(`${root}/functions/src/toolsets/${toolset}/tools/${tool}.ts`), full);
    });
  }
});
