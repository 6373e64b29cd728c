/** Runs `muster connect` with a folder that is both the project and the user's home. */
import { clients } from '../../packages/muster/src/connect/clients.ts';
import { type Connection, connect as connectAt } from '../../packages/muster/src/connect/connect.ts';

export const placeIn = (folder: string) => ({ folder, home: folder, env: {} });

/** Path of each client's file in the folder. Clients without a file for a project have one in the home. */
export const configFiles = Object.fromEntries(
  Object.entries(clients).map(([name, { path, userPath }]) => [
    name,
    path ?? userPath?.({ home: '', env: {} }).replace(/^\//, '') ?? '',
  ]),
);

export const connect = (name: string, folder: string, url: string, keyed: boolean): Connection =>
  connectAt(name, placeIn(folder), url, keyed);
