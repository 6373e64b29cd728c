/** Policy files for one run of Gemini CLI. Source: https://geminicli.com/docs/reference/policy-engine */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { AttemptFailure } from '../task/failure.ts';
import { allowsAnything, parseRule } from '../task/permissions.ts';
import type { RunPlace } from './cli.ts';

/** Name of the shell tool in rules, and the name of its class. Gemini CLI accepts both. */
const SHELL = 'run_shell_command';
const SHELLS: readonly string[] = [SHELL, 'ShellTool'];

/** Lowest priority of the user tier: above the CLI's own rules, below every rule of the user. */
const PRIORITY = 0;

export interface Policies {
  /** Paths for `--policy`, one flag per path. Empty if no tools are allowed. */
  readonly paths: readonly string[];
  remove(): void;
}

/**
 * Writes a run's policy to a temporary folder. `--policy` replaces the user's own policies, so the folder also
 * contains links to them. The CLI splits the value of the flag at commas, so the paths of the links have no commas.
 * @throws AttemptFailure if Gemini CLI cannot express a rule
 */
export function writePolicies(allowedTools: readonly string[], place: RunPlace): Policies {
  if (allowedTools.length === 0) return { paths: [], remove: () => undefined };
  const policy = policyOf(allowedTools);
  const folder = mkdtempSync(`${tmpdir().includes(',') ? '/tmp' : tmpdir()}/muster-gemini-`);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const own = `${folder}/task.toml`;
    writeFileSync(own, policy, { mode: 0o600 });
    const users = userPolicyPaths(place).map((path, index) => {
      const link = `${folder}/user-${index}${path.endsWith('.toml') ? '.toml' : ''}`;
      symlinkSync(resolve(place.folder, path), link);
      return link;
    });
    return { paths: [own, ...users], remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Returns a policy file (TOML) that allows the tools.
 * @throws AttemptFailure if Gemini CLI cannot express a rule
 */
export function policyOf(allowedTools: readonly string[]): string {
  return allowedTools.map(ruleOf).join('\n');
}

function ruleOf(allowed: string): string {
  const { tool, what } = parseRule(allowed);
  const isShell = SHELLS.includes(tool);
  const isWhole = what === undefined || allowsAnything(what);
  if (!isShell && !isWhole)
    throw new AttemptFailure(
      'crashed',
      `config.allowedTools contains "${allowed}", but in Gemini CLI, only rules for ${SHELL} can have brackets. Allow the whole tool instead: "${tool}".`,
      { retryable: false },
    );
  const lines = [
    '[[rule]]',
    `toolName = ${tomlString(isShell ? SHELL : tool)}`,
    ...(isWhole ? [] : [`commandPrefix = ${tomlString(what.trim())}`]),
    'decision = "allow"',
    `priority = ${PRIORITY}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** A JSON string is a valid TOML string, except that TOML does not allow DEL and lone surrogates in it. */
function tomlString(text: string): string {
  return JSON.stringify(text.replaceAll(/\p{Surrogate}/gu, '\ufffd')).replaceAll('\x7f', '\\u007f');
}

const settings = z.object({ policyPaths: z.array(z.string()) });

/** Returns the policy paths that Gemini CLI uses by default: those in its settings, or else the user's folder. */
function userPolicyPaths({ folder, env }: RunPlace): readonly string[] {
  const home = env['GEMINI_CLI_HOME'] || env['HOME'] || homedir();
  const system = env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] || systemSettings();
  const defaults = env['GEMINI_CLI_SYSTEM_DEFAULTS_PATH'] || `${dirname(system)}/system-defaults.json`;
  const files = [defaults, `${home}/.gemini/settings.json`, `${folder}/.gemini/settings.json`, system];
  const named = new Set(files.flatMap(policyPathsIn).map((path) => expanded(path, home, env)));
  return named.size > 0 ? [...named] : [`${home}/.gemini/policies`];
}

function systemSettings(): string {
  return process.platform === 'darwin'
    ? '/Library/Application Support/GeminiCli/settings.json'
    : '/etc/gemini-cli/settings.json';
}

/** Returns no paths if the settings file is missing or invalid. Gemini CLI itself reports invalid settings. */
function policyPathsIn(file: string): readonly string[] {
  try {
    return settings.parse(JSON.parse(withoutComments(readFileSync(file, 'utf8')))).policyPaths;
  } catch {
    return [];
  }
}

/** The first alternative matches strings, so that comment markers inside strings are kept. */
function withoutComments(json: string): string {
  return json.replaceAll(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*.*?\*\//gs, '$1');
}

/** Expands a path as Gemini CLI does: `~`, `$NAME`, `${NAME}` and `${NAME:-default}`. */
function expanded(path: string, home: string, env: NodeJS.ProcessEnv): string {
  const variables = /\$(?:(\w+)|\{([^}]+?)(?::-([^}]*))?\})/g;
  return path
    .replaceAll(
      variables,
      (all: string, bare?: string, braced?: string, fallback?: string) => env[bare ?? braced ?? ''] ?? fallback ?? all,
    )
    .replace(/^~(?=\/|$)/, () => home);
}
