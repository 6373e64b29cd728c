/** Runs the operator's commands as a shell would. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose } from '../../../functions/src/composition/compose.ts';
import { parseCommand as parseAgents } from '../../../scripts/agents/arguments.ts';
import { follow as followAgents } from '../../../scripts/agents/commands.ts';
import { parseCommand as parsePeople } from '../../../scripts/people/arguments.ts';
import { follow as followPeople } from '../../../scripts/people/commands.ts';
import { externalServicesOf } from '../../support/externalServices.ts';

export const project = process.env['GCLOUD_PROJECT'] ?? 'demo-muster';

type Script = 'agents' | 'people' | 'migrate' | 'rebuild';

const fileOf = (script: Script): string => fileURLToPath(new URL(`../../../scripts/${script}.mjs`, import.meta.url));

export function run(script: Script, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const file = fileOf(script);
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', env });
  return { stdout, stderr, status };
}

/** Runs a command in a separate process, and does not block this process. @throws Error if the command fails */
export function runBeside(
  script: Script,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [fileOf(script), ...args], { env }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`)),
    );
  });
}

/** Runs a command in this process, and returns its output. */
export function printed(script: 'agents' | 'people', ...args: string[]): Promise<string> {
  return script === 'agents'
    ? followAgents(parseAgents(args), 'https://muster.example/mcp')
    : followPeople(parsePeople(args));
}

/** Runs a command with `--json`, and returns its parsed output. */
export async function dataOf(script: 'agents' | 'people', ...args: string[]): Promise<unknown> {
  return JSON.parse(await printed(script, ...args, '--json'));
}

/** Returns an environment whose PATH has only links to all required programs except Java. */
export function withoutJava(): { readonly env: NodeJS.ProcessEnv; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'without-java-'));
  const programs = (process.env['PATH'] ?? '').split(':');
  for (const program of ['git', 'npm', 'node', 'env', 'sh', 'sed', 'dirname', 'uname'])
    for (const folder of [...programs, dirname(process.execPath)])
      try {
        symlinkSync(join(folder, program), join(directory, program));
        if (spawnSync(join(directory, program), ['--version']).error === undefined) break;
        rmSync(join(directory, program));
      } catch {
        // The folder already has a link to the program.
      }
  return {
    env: { ...process.env, PATH: directory, JAVA_HOME: undefined },
    remove: () => rmSync(directory, { recursive: true }),
  };
}

/** Authenticates on a new instance, whose credential cache is empty. */
export function authenticate(bearer: string) {
  return compose(externalServicesOf()).services.authenticator.authenticate(bearer);
}

export function bearerIn(output: string): string {
  const found = output.match(/mk_\S+\.\S+/g) ?? [];
  assert.equal(found.length, 1, 'a secret is shown once');
  return found[0] ?? '';
}
