/** Instances that are killed while they claim and end tasks with files. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { FileTeam } from './fixture.ts';
import { GLOBS } from './histories.ts';

const AT_ONCE = 3;
const PROGRAM = new URL('workProgram.ts', import.meta.url).pathname;

/** Returns a team of four agents whose tasks name overlapping files. */
export async function teamOf(): Promise<{ readonly team: FileTeam; readonly agents: readonly string[] }> {
  const team = new FileTeam();
  const agents = await Promise.all(['ann', 'bob', 'cleo', 'dan'].map((name) => team.join(name)));
  await team.naming(...GLOBS, ...GLOBS);
  return { team, agents };
}

/** Ends all leases, and returns the number of reservations that are left. */
export async function entriesLeft(team: FileTeam, agents: readonly string[]): Promise<number> {
  for (let sweeps = 0; sweeps < 2; sweeps++) {
    team.pass(24 * 3600);
    for (const agent of agents) await team.app.access.ports.presence.remove(agent, team.now);
    await team.sweep();
  }
  const [first] = await team.tasks();
  await team.assertBooks();
  return Object.keys(await team.entries(first?.id ?? '')).length;
}

/** Runs an instance that makes random calls and prints a character after each, and kills it during one of them. */
async function workUntilKilled(team: FileTeam, agents: readonly string[], seed: number): Promise<void> {
  const args = JSON.stringify({ workspace: team.workspace, agents, seed, now: team.now });
  const instance = spawn(process.execPath, [...process.execArgv, PROGRAM, args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(instance, 'exit');
  let calls = 0;
  for await (const ended of instance.stdout) {
    calls += String(ended).length;
    if (calls > (seed * 5) % 12) instance.kill('SIGKILL');
  }
  assert.equal((await exit)[1], 'SIGKILL');
}

/** Kills instances during random calls. Returns the number of reservations that are left when all leases have ended. */
export async function keysLeftAfterKills(kills: number): Promise<number> {
  const { team, agents } = await teamOf();
  for (let killed = 0; killed < kills; killed += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => workUntilKilled(team, agents, killed + index)));
    await team.assertBooks();
  }
  const held = (await team.tasks()).filter(({ claim_epoch }) => claim_epoch > 0).length;
  assert.ok(held > 0, 'the instances claimed no task');
  return entriesLeft(team, agents);
}
