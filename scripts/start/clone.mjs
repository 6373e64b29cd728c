// @ts-check
/** Data of this clone: a secret for its credentials, and the file with which clients in this folder connect. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { devDirectory, root } from '../project.mjs';

const secretFile = `${devDirectory}/secret`;

/** Random part of every seeded credential, so that the credential is invalid in other clones. Created once. @returns {string} */
export function cloneSecret() {
  if (!existsSync(secretFile)) {
    try {
      writeFileSync(secretFile, randomBytes(12).toString('hex'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (!existsSync(secretFile)) throw error; // another start has just created the file
    }
  }
  return readFileSync(secretFile, 'utf8').trim();
}

/**
 * Writes `.mcp.json`, with which Claude Code in this folder connects to this run's endpoint as the leader. Does
 * nothing if another `npm start` is already running in this clone.
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
