// @ts-check
/** `beat <session folder> <token>`: sends heartbeats for the agents of a session while its model works. */
import { setTimeout as delay } from 'node:timers/promises';
import { call } from './hub.mjs';
import { BETWEEN_BEATS_MS, Session } from './session.mjs';

/** Time without a hook after which a session is treated as crashed, so that its leases can expire. */
const SILENCE_MS = 15 * 60 * 1000;

const [folder = '', token = ''] = process.argv.slice(2);
const session = new Session(folder);

// Counts heartbeats instead of minutes, so that time in which the machine sleeps does not count.
let beatsInSilence = 0;
for (let last = session.lastSign(); last !== undefined && session.keepBeat(token); ) {
  await Promise.all(session.agents().map((agent_id) => call('coordination.heartbeat', { agent_id })));
  await delay(BETWEEN_BEATS_MS);
  const now = session.lastSign();
  beatsInSilence = now === last ? beatsInSilence + 1 : 0;
  if (beatsInSilence * BETWEEN_BEATS_MS >= SILENCE_MS) break;
  last = now;
}
session.endBeat(token);
