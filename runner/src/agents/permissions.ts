/** Decides which requests of a coding agent for permission the runner allows. It never allows anything permanently. */
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { allowsAnything, isShell, parseRule } from '../task/permissions.ts';
import type { RunWishes } from './agent.ts';

export interface Permission {
  /** Kind of the tool in the Agent Client Protocol, such as `edit` or `execute`. */
  readonly kind: string;
  /** Whole command line, if the agent wants to run a command. */
  readonly command?: string | undefined;
  readonly paths: readonly string[];
}

const LOOKING: readonly string[] = ['read', 'search', 'think'];
const WRITING: readonly string[] = ['edit', 'move', 'delete'];
const FETCH_TOOL = /^(?:web_?)?fetch$/i;

/** @param folder of the worktree. Relative paths are relative to it */
export function allows({ kind, command, paths }: Permission, wishes: RunWishes, folder: string): boolean {
  const { unsafe, allowedTools } = wishes;
  if (unsafe) return true;
  const areInside = paths.every((path) => isInside(path, folder));
  if (LOOKING.includes(kind)) return areInside;
  // Without a path, it is unknown which file would be changed.
  if (WRITING.includes(kind)) return paths.length > 0 && areInside;
  const rules = allowedTools.map(parseRule);
  if (kind === 'fetch') return rules.some(({ tool, what }) => what === undefined && FETCH_TOOL.test(tool));
  if (kind !== 'execute' || command === undefined) return false;
  return rules.some(({ tool, what }) => isShell(tool) && what !== undefined && fits(command, what, tool));
}

/** Names of the shell in rules of Gemini CLI, in which a rule is always the beginning of a command. */
const PREFIX_SHELL = /^(?:run_shell_command|shelltool)$/i;

/** Characters with which a shell runs further commands, expands patterns or redirects output. */
const SHELL_SYNTAX = /[;&|<>`$(){}[\]*?!~#\\\n\r]/;

/** A rule is a whole command, or the beginning of a command followed by `:*` or ` *`. */
function fits(command: string, what: string, tool: string): boolean {
  const rule = what.trim();
  if (allowsAnything(rule)) return false;
  const given = command.trim();
  const prefix = /^(.*?)(?::\*| \*)$/s.exec(rule)?.[1]?.trim() ?? (PREFIX_SHELL.test(tool) ? rule : undefined);
  if (prefix === undefined) return given === rule;
  if (given === prefix) return true;
  return given.startsWith(`${prefix} `) && !SHELL_SYNTAX.test(given.slice(prefix.length));
}

/** Returns whether a path is in a folder after all links are resolved. The file need not exist. */
function isInside(path: string, folder: string): boolean {
  const root = realpathSync(folder);
  const target = path.includes('\0') ? undefined : realPath(resolve(root, path));
  if (target === undefined || !`${target}${sep}`.startsWith(`${root}${sep}`)) return false;
  const [first] = target.slice(root.length + 1).split(sep);
  return first?.toLowerCase() !== '.git';
}

/** Resolves the links of a path whose last parts need not exist; undefined if a link leads to nothing. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    if (isLink(path) || dirname(path) === path) return undefined;
    const parent = realPath(dirname(path));
    return parent === undefined ? undefined : resolve(parent, basename(path));
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
