/** Finds the coding agents that are installed on this machine. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ProgramVersion } from '../hub/hub.ts';
import type { AgentProgram } from './agent.ts';
import { KNOWN_AGENTS, namedAgent } from './known.ts';

const execute = promisify(execFile);
const TIMEOUT_MS = 60_000;

export interface InstalledAgent extends ProgramVersion {
  readonly agent: AgentProgram;
}

/**
 * Returns the coding agents that can be started, with their versions.
 * @param named agents that the owner named; such an agent replaces the known agent of the same name
 * @param say reports an agent that cannot be used
 */
export async function findInstalled(
  env: NodeJS.ProcessEnv,
  named: readonly AgentProgram[],
  say: (message: string) => void,
): Promise<readonly InstalledAgent[]> {
  const names = new Set(named.map(({ tool }) => tool));
  const agents = [...KNOWN_AGENTS.filter(({ tool }) => !names.has(tool)), ...named];
  const found = await Promise.all(
    agents.map(async (agent) => {
      const version = await versionOf(agent.command[0], env);
      if (version === undefined) {
        if (names.has(agent.tool)) say(`Cannot run ${agent.command[0]}, which --agent names.`);
        return [];
      }
      if (agent.minVersion !== undefined && isOlder(version, agent.minVersion)) {
        say(`${agent.program} ${version} is too old for the runner. Install ${agent.minVersion} or newer.`);
        return [];
      }
      return [{ agent, name: agent.program, version }];
    }),
  );
  return found.flat();
}

/** Parses the value of `--agent`, `NAME=COMMAND`. Undefined if the name or the command is invalid. */
export function parseAgent(text: string): AgentProgram | undefined {
  const [, name = '', command = ''] = /^([A-Za-z][A-Za-z0-9_]{1,31})=(.*)$/s.exec(text.trim()) ?? [];
  const [program, ...args] = command.trim().split(/\s+/);
  return name === '' || !program ? undefined : namedAgent(name, [program, ...args]);
}

/** Returns a program's version; undefined if the program is not installed or does not run. */
export async function versionOf(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const { stdout } = await execute(program, ['--version'], { env, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' });
    return /\d+(?:\.\d+)+[\w.-]*/.exec(stdout)?.[0] ?? 'unknown';
  } catch {
    return undefined;
  }
}

function isOlder(version: string, min: string): boolean {
  return version !== 'unknown' && version.localeCompare(min, 'en', { numeric: true }) < 0;
}
