#!/usr/bin/env node
/** `muster`: connects a client, shows what goes on, or does coding tasks. */
import { parseArgs } from 'node:util';
import { connect } from './connect/connect.ts';
import { INSTRUCTIONS } from './connect/instructions.ts';
import { findEndpoint } from './endpoint.ts';
import { Mistake } from './mistake.ts';
import { Hub } from './rpc.ts';
import { screenOf } from './status/screen.ts';
import { takeSnapshot } from './status/snapshot.ts';
import { watch } from './status/watch.ts';

const USAGE = `Usage:
  muster connect <claude|cursor|vscode|gemini|codex> [--sign-in]
      writes the client's configuration in this folder, and prints what to put into your AGENTS.md.
      With MUSTER_TOKEN set it sends that credential; without, or with --sign-in, you sign in from the client.
  muster status [--once] [--json] [--every <seconds>]
      the goal, who does what, and what waits. Needs MUSTER_TOKEN.
  muster runner --repo <path> [options]
      does coding tasks with the coding agents of this machine; --help lists its options.

  --url <url>           Muster's MCP endpoint (or MUSTER_URL, or the hub that runs in this clone)
  --workspace <name>    another workspace than your own`;

const USUAL_SECONDS = 5;

const options = {
  url: { type: 'string' },
  workspace: { type: 'string' },
  'sign-in': { type: 'boolean' },
  once: { type: 'boolean' },
  json: { type: 'boolean' },
  every: { type: 'string' },
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
    const keyed = Boolean(token) && !values['sign-in'];
    const { client, path } = connect(positionals[0] ?? '', folder, String(find()), keyed);
    console.error(`${client.title}: ${path} now has the server "muster". ${client.next(keyed)}`);
    console.error('Put this into the AGENTS.md of your repository:\n');
    console.log(INSTRUCTIONS.trimEnd());
    return;
  }
  if (command !== 'status') throw new Mistake(`There is no command "${command}".\n\n${USAGE}`);
  if (!token)
    throw new Mistake('Set MUSTER_TOKEN to the credential of an agent: "muster status" calls with it.');
  const hub = new Hub(find(), token);
  const { stdout } = process;
  if (values.json) console.log(JSON.stringify(await takeSnapshot(hub), null, 2));
  else if (values.once || !stdout.isTTY)
    stdout.write(screenOf(await takeSnapshot(hub), Number.POSITIVE_INFINITY));
  else await watch(hub, secondsOf(values.every), stdout);
}

function parsed() {
  try {
    return parseArgs({ args: rest, options, allowPositionals: true });
  } catch (error) {
    throw new Mistake(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function secondsOf(text: string | undefined): number {
  const seconds = text === undefined ? USUAL_SECONDS : Number(text);
  if (!(seconds >= 1 && seconds <= 3600)) throw new Mistake('--every: a number of seconds from 1 to 3600.');
  return seconds;
}

/** It is a program of its own, which reads the command line itself. */
async function startRunner(args: readonly string[]): Promise<void> {
  process.argv.splice(2, process.argv.length, ...args);
  await import(new URL('./runner.js', import.meta.url).href);
}
