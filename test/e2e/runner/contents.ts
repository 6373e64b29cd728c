import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Returns the kind, mode and content of each file, folder and link below a folder, by path.
 * @param except paths below the folder, whose entries are omitted
 */
export function contentOf(folder: string, except: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const add = (path: string): void => {
    if (except.includes(path)) return;
    const whole = `${folder}/${path}`;
    const stats = lstatSync(whole);
    const mode = stats.mode.toString(8);
    if (stats.isSymbolicLink()) found[path] = `${mode} ${readlinkSync(whole)}`;
    else if (stats.isFile()) found[path] = `${mode} ${createHash('sha256').update(readFileSync(whole)).digest('hex')}`;
    else found[path] = mode;
    if (stats.isDirectory()) for (const name of readdirSync(whole)) add(`${path}/${name}`);
  };
  for (const name of readdirSync(folder)) add(name);
  return found;
}
