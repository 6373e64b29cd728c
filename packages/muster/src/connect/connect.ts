import { join } from 'node:path';
import { Mistake } from '../mistake.ts';
import { type ClientFile, clients } from './clients.ts';
import { read, replace } from './file.ts';
import { JsonText } from './json.ts';
import { withTable } from './toml.ts';

const NAME = 'muster';

export interface Connection {
  readonly client: ClientFile;
  /** Path of the configuration file. */
  readonly path: string;
}

/**
 * Adds the server "muster" to a client's configuration file in a folder. The other content of the file is unchanged.
 * @param keyed whether the client sends MUSTER_TOKEN; the file contains the variable's name, never its value
 * @throws Mistake if the client is unknown, or the file cannot be read, parsed or written
 */
export function connect(name: string, folder: string, url: string, keyed: boolean): Connection {
  const client = Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (client === undefined)
    throw new Mistake(`Unknown client "${name}". Use one of: ${Object.keys(clients).join(', ')}.`);
  const path = join(folder, client.path);
  const before = read(path);
  const after = edited(path, () => withServer(before, client, url, keyed));
  if (after !== before) replace(path, after, keyed);
  return { client, path };
}

function withServer(before: string, client: ClientFile, url: string, keyed: boolean): string {
  const path = [client.servers, NAME];
  if (client.format === 'toml') return withTable(before, path, client.entry(url, keyed));
  const mark = before.startsWith('\ufeff') ? '\ufeff' : '';
  const text = new JsonText(before.slice(mark.length), client.format);
  text.set(path, client.entry(url, keyed));
  for (const input of (keyed && client.inputs) || []) text.addTo('inputs', input);
  return mark + text.toString();
}

function edited(path: string, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    throw new Mistake(
      `${path}: ${error.message}. The file was not changed. Fix the file, or add the server "muster" manually.`,
    );
  }
}
