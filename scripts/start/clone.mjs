// @ts-check
/** Data of this clone only: its credentials, and the file that connects clients started in this folder. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { devDirectory, root } from '../project.mjs';

const secretFile = `${devDirectory}/secret`;

/** Part of every seeded credential, so that it is invalid in other clones. Created once. @returns {string} */
export function cloneSecret() {
  if (!existsSync(secretFile)) {
    try {
      writeFileSync(secretFile, randomBytes(12).toString('hex'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (!existsSync(secretFile)) throw error; // another start has just created it
    }
  }
  return readFileSync(secretFile, 'utf8').trim();
}

/**
 * Writes `.mcp.json`, with which Claude Code in this clone connects to its endpoint as the leader, at any port. A
 * second `npm start` in the clone does not change the first one's file.
 * @param {import('../processes/run.mjs').Run} run
 * @param {{ origin: string, tokens: Record<string, string> }} endpoint
 */
export function connectThisClone(run, { origin, tokens }) {
  if (run.suffix !== '') return;
  const headers = { Authorization: `Bearer ${tokens.leader}` };
  const config = { mcpServers: { muster: { type: 'http', url: `${origin}/mcp`, headers } } };
  const path = `${root}/.mcp.json`;
  run.removeAtEnd(path);
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
