import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Mistake } from './mistake.ts';

/** Written by `npm start` in a clone of Muster, for as long as it runs. */
const LOCAL = '.dev/endpoint.json';

const local = z.object({ origin: z.url() });

export interface EndpointWishes {
  readonly url: string | undefined;
  readonly workspace: string | undefined;
  /** Where to look for a hub of this machine. */
  readonly folder: string;
}

/**
 * The MCP endpoint: the one that was named, or else the one that runs in this clone.
 * @throws Mistake
 */
export function findEndpoint({ url, workspace, folder }: EndpointWishes): URL {
  const endpoint = url === undefined ? localEndpoint(folder) : parsed(url);
  if (workspace !== undefined) endpoint.searchParams.set('workspace', workspace);
  return endpoint;
}

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Mistake(`--url: "${text}" is no http(s) address. It looks like https://<host>/mcp.`);
  if (!isSafe(url))
    throw new Mistake(`--url: http sends the credential unencrypted to ${url.host}. Use https.`);
  return url;
}

/** Returns whether no other machine can read what is sent to the address. Source: RFC 6750, section 5.3. */
function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function localEndpoint(folder: string): URL {
  try {
    const { origin } = local.parse(JSON.parse(readFileSync(`${folder}/${LOCAL}`, 'utf8')));
    return new URL('/mcp', origin);
  } catch {
    throw new Mistake(
      `Which hub? Say --url <address of the MCP endpoint> or set MUSTER_URL: no hub runs here, since there is no ${LOCAL}.`,
    );
  }
}
