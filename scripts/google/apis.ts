/** Where Google's APIs are. This is the one place that says so: tests have them on this machine. */
import { isSafeAddress } from '../../functions/src/kernel/platform.ts';

/** Each by the name of its service, which is its host, too, and is what a project has enabled or has not. */
export type Api = `${string}.googleapis.com`;

/**
 * The address of something that an API has.
 * @param path from the API's version on: `v1/projects/my-project/databases`
 * @param origin instead of Google, a server on which each API is below a folder of its name
 */
export function addressOf(api: Api, path: string, origin?: string): string {
  return `${origin === undefined ? `https://${api}` : `${origin}/${api}`}/${path}`;
}

/** Instead of Google, as the environment says. A token goes there, so it is this machine or speaks TLS. */
export function originIn(env: NodeJS.ProcessEnv): string | undefined {
  const origin = env['MUSTER_GOOGLE_URL']?.replace(/\/+$/, '');
  if (origin === undefined || origin === '') return undefined;
  if (!isSafeAddress(origin))
    throw new Error(`MUSTER_GOOGLE_URL is ${origin}: it must be https, or on this machine.`);
  return origin;
}
