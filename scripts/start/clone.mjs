// @ts-check
/** What is this clone's alone: its credentials, and the file by which clients that are started in it find its endpoint. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { devDirectory, root } from '../project.mjs';

const secretFile = `${devDirectory}/secret`;

/** Part of every seeded credential, so that those of another clone open nothing here. Made once. @returns {string} */
export function cloneSecret() {
  if (!existsSync(secretFile)) {
    try {
      writeFileSync(secretFile, randomBytes(12).toString('hex'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (!existsSync(secretFile)) throw error; // another start has just made it
    }
  }
  return readFileSync(secretFile, 'utf8').trim();
}

/**
 * Writes `.mcp.json`, by which Claude Code that is started in this clone reaches its endpoint as the leader, whatever
 * port it has. A second `npm start` in the clone leaves the first one's alone.
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
