// @ts-check
/** `beat <state file>`: sends heartbeats for the agents of a session for as long as its model is at work. */
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { call } from './hub.mjs';

/** `MUSTER_BEAT_SECONDS` is for leases shorter than the usual ones. */
const BETWEEN_BEATS_MS = Number(process.env.MUSTER_BEAT_SECONDS || 45) * 1000;

/** A session that has done nothing for as long has crashed: what it holds is then for others. No tool runs longer. */
const SILENCE_MS = 15 * 60 * 1000;

const state = process.argv[2] ?? '';
for (let agents = agentsAtWork(); agents !== undefined; agents = agentsAtWork()) {
  await Promise.all(agents.map((agent_id) => call('coordination.heartbeat', { agent_id })));
  await delay(BETWEEN_BEATS_MS);
}

/** @returns {string[] | undefined} undefined where the model has stopped */
function agentsAtWork() {
  try {
    const { agents, working } = JSON.parse(readFileSync(state, 'utf8'));
    return working && Date.now() - statSync(state).mtimeMs < SILENCE_MS ? agents : undefined;
  } catch {
    return undefined; // the session has ended
  }
}
