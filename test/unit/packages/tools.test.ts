/** Names of tools in the plugin, and in the section that is written into AGENTS.md. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { INSTRUCTIONS } from '../../../packages/muster/src/connect/instructions.ts';
import { entries } from '../../contract/catalog.ts';

const root = new URL('../../..', import.meta.url).pathname;
const names = new Set(entries.map(({ toolset, tool }) => wireName(toolset, tool.name, 'prefixed')));
const TOOL = /\b(?:access|coding|coordination|inbox|onboarding|orchestration|system|todo)_\w+/g;

describe('instructions for agents', () => {
  const reported = new Map([['the section for AGENTS.md', INSTRUCTIONS]]);
  for (const file of globSync('plugins/**/*.{md,toml}', { cwd: root }))
    reported.set(file, readFileSync(`${root}/${file}`, 'utf8'));

  for (const [name, text] of reported)
    it(`name only tools that exist: ${name}`, () => {
      for (const [full] of text.matchAll(TOOL)) assert.ok(names.has(full), full);
    });
});
