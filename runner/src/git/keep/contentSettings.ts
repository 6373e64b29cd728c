/**
 * Git settings that determine how git stores files. Agents share the repository's configuration, so an agent can add
 * a filter. The runner must not apply that filter to the agent's work.
 */
import type { Git } from '../git.ts';

const SHAPING = String.raw`^(filter\..*|core\.(attributesfile|autocrlf|eol|excludesfile|filemode|ignorecase|precomposeunicode|symlinks|bigfilethreshold))$`;

/** Values of the settings by key, as `git config --list` prints them. */
export type ContentSettings = Readonly<Record<string, string>>;

const WITHOUT: Readonly<Record<string, string>> = {
  'core.autocrlf': 'false',
  'core.bigfilethreshold': '512m',
  'core.eol': 'native',
  'core.filemode': 'true',
  'core.ignorecase': 'false',
  'core.precomposeunicode': 'false',
  'core.symlinks': 'true',
};

/** Reads the settings that apply to a checkout. */
export async function contentSettings(git: Git): Promise<ContentSettings> {
  const listed = await git('config', '--null', '--get-regexp', SHAPING).catch(() => ''); // Git fails if no setting exists.
  const entries = listed.split('\0').filter(Boolean);
  return Object.fromEntries(
    entries.map((entry): [string, string] => {
      const [key = '', ...value] = entry.split('\n');
      return [key, value.length === 0 ? 'true' : value.join('\n')];
    }),
  );
}

/** Returns settings, as `key=value`, that restore the earlier state. An empty filter command disables the filter. */
export function restoring(before: ContentSettings, now: ContentSettings): readonly string[] {
  const changed = Object.keys({ ...before, ...now }).filter((key) => before[key] !== now[key]);
  return changed.map((key) => {
    const absent = key.endsWith('.required') ? 'false' : (WITHOUT[key] ?? '');
    return `${key}=${before[key] ?? absent}`;
  });
}
