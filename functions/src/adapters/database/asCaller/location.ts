/** Where the Realtime Database answers REST requests: the emulator, or the database's own URL. */
import type { App } from 'firebase-admin/app';

/**
 * @param path segments of letters, digits, `_` and `-`, or of push keys, which need no escaping
 * @param parameters of the query string
 */
export type ResourceUrl = (path: string, parameters: Readonly<Record<string, string>>) => string;

/** Resources of the database that the app's own client uses. */
export function resourcesOf(app: App): ResourceUrl {
  const { databaseURL } = app.options;
  if (databaseURL === undefined) throw new Error('This deployment names no Realtime Database.');
  const { origin, hostname, searchParams } = new URL(databaseURL);
  const emulator = process.env['FIREBASE_DATABASE_EMULATOR_HOST'];
  const named = searchParams.get('ns');
  const namespace = emulator ? (named ?? hostname.split('.')[0]) : named;
  const base = emulator ? `http://${emulator}` : origin;
  return (path, parameters) => {
    const query = new URLSearchParams({ ...parameters, ...(namespace && { ns: namespace }) });
    return `${base}/${path}.json?${query}`;
  };
}
