import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Mistake } from '../mistake.ts';
import { type ClientFile, clients } from './clients.ts';

const fields = z.record(z.string(), z.unknown());

const lists = z.array(z.looseObject({ id: z.string().optional() }));

export interface Connection {
  readonly client: ClientFile;
  /** The file that has been written. */
  readonly path: string;
}

/**
 * Adds the server "muster" to the configuration of a client in a folder. Whatever else it holds stays.
 * @param keyed whether the client sends the credential of MUSTER_TOKEN; the file names the variable, never its value
 * @throws Mistake
 */
export function connect(name: string, folder: string, url: string, keyed: boolean): Connection {
  const client = Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (client === undefined)
    throw new Mistake(`Which client? ${Object.keys(clients).join(', ')}: there is no "${name}".`);
  const path = join(folder, client.path);
  const before = readFields(path);
  const servers = fields.safeParse(before[client.servers] ?? {});
  if (!servers.success) throw new Mistake(`"${client.servers}" in ${path} is no object. Mend it first.`);
  const after = {
    ...before,
    ...(keyed && client.inputs && { inputs: withInputs(before['inputs'], client.inputs, path) }),
    [client.servers]: { ...servers.data, muster: client.entry(url, keyed) },
  };
  mkdirSync(dirname(path), { recursive: true });
  // The client may read it at any time.
  writeFileSync(`${path}.new`, `${JSON.stringify(after, null, 2)}\n`);
  renameSync(`${path}.new`, path);
  return { client, path };
}

function readFields(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  try {
    return fields.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new Mistake(
      `${path} is not plain JSON, so it has been left as it is. Mend it, or add muster by hand.`,
    );
  }
}

function withInputs(before: unknown, added: NonNullable<ClientFile['inputs']>, path: string): unknown[] {
  const present = lists.safeParse(before ?? []);
  if (!present.success) throw new Mistake(`"inputs" in ${path} is no list of objects. Mend it first.`);
  const others = present.data.filter(({ id }) => !added.some((one) => one['id'] === id));
  return [...others, ...added];
}
