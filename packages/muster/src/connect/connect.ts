import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Mistake } from '../mistake.ts';
import { type ClientFile, clients, type Machine } from './clients.ts';
import { read, replace } from './file.ts';
import { JsonText } from './json.ts';
import { hasTable, tableText, withTable } from './toml.ts';

const NAME = 'muster';

/** The files in which clients are looked for. */
export interface Place extends Machine {
  /** The project's folder. */
  readonly folder: string;
  /** Whether to use the client's file for all projects, even if the client also has a file for a project. */
  readonly forUser?: boolean;
}

export interface Connection {
  readonly client: ClientFile;
  /** Path of the configuration file. */
  readonly path: string;
  /** Content of the file with the server "muster". */
  readonly text: string;
}

/** A client, and whether its file exists and contains the server "muster". */
export interface Finding {
  readonly name: string;
  readonly path: string;
  readonly state: 'connected' | 'not connected' | 'no file' | 'unreadable';
}

/**
 * Adds the server "muster" to a client's configuration file. The other content of the file is unchanged.
 * @param keyed whether the client sends MUSTER_TOKEN; the file contains the variable's name, never its value
 * @throws Mistake if the client is unknown, or the file cannot be read, parsed or written
 */
export function connect(name: string, place: Place, url: string, keyed: boolean): Connection {
  const { before, ...connection } = planned(name, place, url, keyed);
  if (connection.text !== before) replace(connection.path, connection.text, keyed);
  return connection;
}

/**
 * Returns what `connect` would write, without writing it.
 * @throws Mistake like `connect`
 */
export function planned(name: string, place: Place, url: string, keyed: boolean): Connection & { before: string } {
  const client = Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (client === undefined)
    throw new Mistake(`Unknown client "${name}". Use one of: ${Object.keys(clients).join(', ')}.`);
  const path = pathOf(client, place);
  const before = read(path);
  try {
    return { client, path, before, text: withServer(before, client, url, keyed) };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    throw new Mistake(
      `${path}: ${error.message}. The file was not changed. Fix the file, or add this manually:\n\n${entryText(client, url, keyed)}`,
    );
  }
}

function entryText(client: ClientFile, url: string, keyed: boolean): string {
  const { servers } = client;
  if (client.format === 'toml') return tableText([servers, NAME], client.entry(url, keyed)).join('\n');
  return JSON.stringify({ [servers]: { [NAME]: client.entry(url, keyed) } }, null, 2);
}

/** Returns for each client whether its files, for the project and for all projects, have the server "muster". */
export function findConnections(place: Place): Finding[] {
  return Object.entries(clients).flatMap(([name, client]) => {
    const paths = [client.path && join(place.folder, client.path), client.userPath?.(place)];
    return paths
      .flatMap((path) => path ?? [])
      .map((path) => existing(path, client))
      .map((path) => ({ name, path, state: stateOf(client, path) }));
  });
}

function stateOf(client: ClientFile, path: string): Finding['state'] {
  if (!existsSync(path)) return 'no file';
  const servers = [client.servers, NAME];
  try {
    const text = read(path);
    const isConnected =
      client.format === 'toml'
        ? hasTable(text, servers)
        : new JsonText(withoutMark(text).text, client.format).has(servers);
    return isConnected ? 'connected' : 'not connected';
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return 'unreadable';
  }
}

/** @throws Mistake if the client has no such file, or if the folder of a file for all projects does not exist */
function pathOf(client: ClientFile, { folder, forUser = false, ...machine }: Place): string {
  const { title, path, userPath } = client;
  if (!forUser && path !== undefined) return existing(join(folder, path), client);
  if (userPath === undefined)
    throw new Mistake(`Muster cannot edit the file of ${title} for all projects. Run the command without --user.`);
  const found = existing(userPath(machine), client);
  if (existsSync(dirname(found))) return found;
  throw new Mistake(`${dirname(found)} does not exist. Nothing was written. Install and start ${title}, then retry.`);
}

/** Returns the path with the other ending if only that file exists. */
function existing(path: string, { otherEnding }: ClientFile): string {
  const other = otherEnding && path.replace(/[^.]+$/, otherEnding);
  return other && !existsSync(path) && existsSync(other) ? other : path;
}

function withServer(before: string, client: ClientFile, url: string, keyed: boolean): string {
  const path = [client.servers, NAME];
  if (client.format === 'toml') return withTable(before, path, client.entry(url, keyed));
  const { mark, text: content } = withoutMark(before);
  const text = new JsonText(content, client.format);
  text.set(path, client.entry(url, keyed));
  for (const input of (keyed && client.inputs) || []) text.addTo('inputs', input);
  return mark + text.toString();
}

/** Splits a text into its byte order mark, if it has one, and the rest. */
function withoutMark(text: string): { readonly mark: string; readonly text: string } {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  return { mark, text: text.slice(mark.length) };
}
