/**
 * Settings that decide what git stores of a file. An agent shares the repository's configuration: if it adds a filter,
 * its work must not pass through that filter.
 */
import type { Git } from '../git.ts';

const SHAPING = String.raw`^(filter\..*|core\.(attributesfile|autocrlf|eol|excludesfile|filemode|ignorecase|precomposeunicode|symlinks|bigfilethreshold))$`;

/** Values by key, as `git config` lists them. */
export type ContentSettings = Readonly<Record<string, string>>;

/** Git's defaults. */
const WITHOUT: Readonly<Record<string, string>> = {
  'core.autocrlf': 'false',
  'core.bigfilethreshold': '512m',
  'core.eol': 'native',
  'core.filemode': 'true',
  'core.ignorecase': 'false',
  'core.precomposeunicode': 'false',
  'core.symlinks': 'true',
};

/** Reads the settings that count in a checkout. */
export async function contentSettings(git: Git): Promise<ContentSettings> {
  const listed = await git('config', '--null', '--get-regexp', SHAPING).catch(() => ''); // there are none
  const entries = listed.split('\0').filter(Boolean);
  return Object.fromEntries(
    entries.map((entry): [string, string] => {
      const [key = '', ...value] = entry.split('\n');
      return [key, value.length === 0 ? 'true' : value.join('\n')];
    }),
  );
}

/** Returns what restores the settings of before, as `key=value`. An empty filter command is no filter. */
export function restoring(before: ContentSettings, now: ContentSettings): readonly string[] {
  const changed = Object.keys({ ...before, ...now }).filter((key) => before[key] !== now[key]);
  return changed.map((key) => {
    const absent = key.endsWith('.required') ? 'false' : (WITHOUT[key] ?? '');
    return `${key}=${before[key] ?? absent}`;
  });
}
