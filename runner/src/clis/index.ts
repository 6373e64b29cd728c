import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CodingTool, ProgramVersion } from '../hub/hub.ts';
import { claude } from './claude.ts';
import type { CodingCli } from './cli.ts';
import { gemini } from './gemini.ts';

const execute = promisify(execFile);
const TIMEOUT_MS = 60_000;
export const CLIS: Readonly<Record<CodingTool, CodingCli>> = { CLAUDECODE: claude, GEMINI: gemini };

export interface InstalledCli extends ProgramVersion {
  readonly tool: CodingTool;
}

/** Returns the coding agents that are installed on the PATH, with their versions. */
export async function findInstalled(env: NodeJS.ProcessEnv): Promise<readonly InstalledCli[]> {
  const found = await Promise.all(
    Object.values(CLIS).map(async ({ tool, program }) => {
      const version = await versionOf(program, env);
      return version === undefined ? [] : [{ tool, name: program, version }];
    }),
  );
  return found.flat();
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
