// @ts-check
/** `beat <session folder> <token>`: sends heartbeats for the agents of a session while its model works. */
import { setTimeout as delay } from 'node:timers/promises';
import { call } from './hub.mjs';
import { HEARTBEAT_INTERVAL_MS, Session } from './session.mjs';

/** Time without a hook after which a session counts as crashed. Its heartbeats stop, so that its leases expire. */
const MAX_SILENCE_MS = 15 * 60 * 1000;

const [folder = '', token = ''] = process.argv.slice(2);
const session = new Session(folder);

// Number of heartbeats since the last hook. Unlike a duration, it does not include time in which the machine sleeps.
let silentHeartbeats = 0;
for (let last = session.lastSign(); last !== undefined && session.keepHeartbeat(token); ) {
  await Promise.all(session.agents().map((agent_id) => call('coordination.heartbeat', { agent_id })));
  await delay(HEARTBEAT_INTERVAL_MS);
  const now = session.lastSign();
  silentHeartbeats = now === last ? silentHeartbeats + 1 : 0;
  if (silentHeartbeats * HEARTBEAT_INTERVAL_MS >= MAX_SILENCE_MS) break;
  last = now;
}
session.endHeartbeat(token);
