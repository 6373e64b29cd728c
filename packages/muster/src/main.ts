#!/usr/bin/env node
import { homedir } from 'node:os';
/** `muster`: connects a client, shows a workspace's status, or runs coding tasks. */
import { parseArgs } from 'node:util';
import { clients } from './connect/clients.ts';
import { connect, findConnections, type Place, planned } from './connect/connect.ts';
import { INSTRUCTIONS } from './connect/instructions.ts';
import { findEndpoint } from './endpoint.ts';
import { latestSessions, listenForCodex } from './listen.ts';
import { Mistake } from './mistake.ts';
import { Hub } from './rpc.ts';
import { screenOf } from './status/screen.ts';
import { takeSnapshot } from './status/snapshot.ts';
import { watch } from './status/watch.ts';

const CLIENTS = Object.keys(clients);

const USAGE = `Usage:
  muster connect <client> [--sign-in] [--user] [--print]
      Adds the hub to the client's configuration in this folder, and prints a section for your AGENTS.md.
      Clients: ${CLIENTS.join(', ')}.
      If MUSTER_TOKEN is set, the client sends that credential; otherwise, or with --sign-in, you sign in.
      --user changes the client's file for all projects. --print prints the file instead of changing it.
  muster connect --list
      Lists the clients' files, and whether they contain the hub.
  muster status [--once] [--json] [--every <seconds>]
      Shows the goal, held and waiting tasks, and questions for you. Needs MUSTER_TOKEN.
  muster listen codex [--thread <session>]
      Wakes an idle session of Codex when there is news for your agent. Needs MUSTER_TOKEN.
      Without --thread, lists the latest sessions.
  muster runner --repo <path> [options]
      Does coding tasks with the coding agents on this machine; --help lists its options.

  --url <url>           Muster's MCP endpoint (default: MUSTER_URL, then the hub running in this clone)
  --workspace <name>    a workspace other than your default`;

const DEFAULT_INTERVAL_SECONDS = 5;

const options = {
  url: { type: 'string' },
  workspace: { type: 'string' },
  'sign-in': { type: 'boolean' },
  user: { type: 'boolean' },
  print: { type: 'boolean' },
  list: { type: 'boolean' },
  once: { type: 'boolean' },
  json: { type: 'boolean' },
  every: { type: 'string' },
  thread: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const [command = '', ...rest] = process.argv.slice(2);

try {
  if (command === 'runner') await startRunner(rest);
  else await run();
} catch (error) {
  if (!(error instanceof Mistake)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const { values, positionals } = parsed();
  if (values.help || command === '' || command === '--help' || command === '-h') {
    console.log(USAGE);
    return;
  }
  const folder = process.cwd();
  const { MUSTER_URL, MUSTER_TOKEN: token } = process.env;
  const find = () =>
    findEndpoint({ url: values.url ?? (MUSTER_URL || undefined), workspace: values.workspace, folder });
  if (command === 'connect') {
    if (values.list) listConnections({ folder, home: homedir(), env: process.env });
    else connectClient(positionals[0] ?? '', String(find()), values);
    return;
  }
  if (command !== 'status' && command !== 'listen') throw new Mistake(`Unknown command "${command}".\n\n${USAGE}`);
  if (!token)
    throw new Mistake(`"muster ${command}" needs a credential. Set MUSTER_TOKEN to the credential of an agent.`);
  if (command === 'listen') return listen(positionals[0], values.thread, () => [find(), token]);
  const hub = new Hub(find(), token);
  const { stdout } = process;
  if (values.json) console.log(JSON.stringify(await takeSnapshot(hub), null, 2));
  else if (values.once || !stdout.isTTY) stdout.write(screenOf(await takeSnapshot(hub), Number.POSITIVE_INFINITY));
  else await watch(hub, secondsOf(values.every), stdout);
}

/** @param hub returns the hub's endpoint and the credential */
async function listen(client: string | undefined, thread: string | undefined, hub: () => [URL, string]): Promise<void> {
  if (client !== 'codex') throw new Mistake(`Usage: muster listen codex. The plugin for Claude Code needs no command.`);
  if (thread !== undefined) {
    const end = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.abort());
    console.error(`Listening for the Codex session "${thread}". Press Ctrl-C to stop.`);
    return listenForCodex(...hub(), thread, end.signal);
  }
  const sessions = latestSessions(process.env['CODEX_HOME'] || `${homedir()}/.codex`);
  if (sessions.length === 0) throw new Mistake('No session of Codex found on this machine. Start Codex first.');
  console.error('Select a session: muster listen codex --thread <session>\n');
  for (const { id, cwd, at } of sessions) console.log(`${id}  ${at.toISOString()}  ${cwd}`);
}

function listConnections(place: Place): void {
  for (const { name, path, state } of findConnections(place))
    console.log(`${name.padEnd(10)}${state.padEnd(15)}${path}`);
}

function connectClient(name: string, url: string, values: ReturnType<typeof parsed>['values']): void {
  const { user: forUser = false, print = false, 'sign-in': signsIn = false } = values;
  const keyed = Boolean(process.env['MUSTER_TOKEN']) && !signsIn;
  const place = { folder: process.cwd(), home: homedir(), env: process.env, forUser };
  if (print) {
    const { path, text } = planned(name, place, url, keyed);
    console.error(`Nothing was written. ${path} would contain:\n`);
    process.stdout.write(text);
    return;
  }
  const { client, path } = connect(name, place, url, keyed);
  console.error(`${client.title}: the server "muster" is in ${path}. ${client.next(keyed)}`);
  console.error("Add this section to your repository's AGENTS.md:\n");
  console.log(INSTRUCTIONS.trimEnd());
}

function parsed() {
  try {
    return parseArgs({ args: rest, options, allowPositionals: true });
  } catch (error) {
    throw new Mistake(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function secondsOf(text: string | undefined): number {
  const seconds = text === undefined ? DEFAULT_INTERVAL_SECONDS : Number(text);
  if (!(seconds >= 1 && seconds <= 3600)) throw new Mistake('--every must be a number of seconds from 1 to 3600.');
  return seconds;
}

/** Starts the program of the runner, which parses the command line itself. */
async function startRunner(args: readonly string[]): Promise<void> {
  process.argv.splice(2, process.argv.length, ...args);
  await import(new URL('./runner.js', import.meta.url).href);
}
