/** `node realtimeWatchingProgram.ts <path>`: starts and stops watches, and exits if nothing else keeps it running. */
import { getApps } from 'firebase-admin/app';
import { agentCaller } from './callers.ts';
import { openAccess, Recorder } from './realtimeWatching.ts';

const [, , path = ''] = process.argv;
const access = openAccess();
const callers = [agentCaller('worker'), agentCaller('viewer'), agentCaller('viewer')];
const watches = callers.map((caller) => new Recorder(access, caller, path, { shape: 'children', maxItems: 10 }));
const states = await Promise.all(watches.map((watch) => watch.started()));
for (const watch of watches) watch.stop();

process.once('exit', () => {
  const apps = getApps().map(({ name }) => name);
  console.log(JSON.stringify({ started: states.length, apps }));
});
