import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Mistake } from './mistake.ts';

/** File that `npm start` writes in a clone of Muster while it runs. */
const LOCAL = '.dev/endpoint.json';
const local = z.object({ origin: z.url() });

export interface EndpointWishes {
  readonly url: string | undefined;
  readonly workspace: string | undefined;
  /** Folder that is searched for a local hub. */
  readonly folder: string;
}

/**
 * Returns the given MCP endpoint, or the endpoint of the hub that runs in this clone.
 * @throws Mistake if the address is invalid or unencrypted, or if there is no address and no hub is running
 */
export function findEndpoint({ url, workspace, folder }: EndpointWishes): URL {
  const endpoint = url === undefined ? localEndpoint(folder) : parsed(url);
  if (workspace !== undefined) endpoint.searchParams.set('workspace', workspace);
  return endpoint;
}

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Mistake(`--url must be an http(s) address such as https://<host>/mcp, not "${text}".`);
  if (!isSafe(url)) throw new Mistake(`--url: http sends the credential unencrypted to ${url.host}. Use https.`);
  return url;
}

/** Returns whether no other machine can read a credential sent to the address. Source: RFC 6750, section 5.3. */
function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function localEndpoint(folder: string): URL {
  try {
    const { origin } = local.parse(JSON.parse(readFileSync(`${folder}/${LOCAL}`, 'utf8')));
    return new URL('/mcp', origin);
  } catch {
    throw new Mistake(
      `The hub's address is missing, and no hub is running here (${LOCAL} is missing or invalid). Start a hub with npm start, or set --url <MCP endpoint> or MUSTER_URL.`,
    );
  }
}
