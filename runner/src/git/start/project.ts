/** Determines the GitHub repository in a remote's address. Addresses with other hosts are not on GitHub. */
import { spawn } from 'node:child_process';
import type { Git } from '../git.ts';

export interface RemoteAddress {
  readonly transport: 'ssh' | 'http';
  readonly host: string;
  /** Path without slashes at its ends. */
  readonly path: string;
}

/** Returns the parts of a remote's address; undefined for a local path, a `file:` URL and every other transport. */
export function parseAddress(address: string): RemoteAddress | undefined {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
  if (scheme === undefined) return parseScpAddress(address);
  const isSsh = /^(?:ssh|git\+ssh|ssh\+git)$/i.test(scheme);
  if (!isSsh && !/^https?$/i.test(scheme)) return undefined;
  // Parses an ssh address as an `http:` URL, because URL normalizes the host only for schemes that it knows.
  const url = URL.parse(address.replace(/^[^:]+/, isSsh ? 'http' : scheme));
  if (url === null) return undefined;
  return { transport: isSsh ? 'ssh' : 'http', host: url.hostname, path: trimmed(url.pathname) };
}

/** `user@host:path`. The address is a local path if a slash precedes the first colon. */
function parseScpAddress(address: string): RemoteAddress | undefined {
  const [, bracketed, plain, path = ''] =
    /^(?:\[(?:[^\]@/]*@)?([^\]@/:]+)(?::\d+)?\]|(?:[^@/:]*@)?([^@/:[\]]+)):(.*)$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  return host === undefined ? undefined : { transport: 'ssh', host: host.toLowerCase(), path: trimmed(path) };
}

const trimmed = (path: string): string => path.replace(/^\/+|\/+$/g, '');

/** Source: https://docs.github.com/authentication/troubleshooting-ssh/using-ssh-over-the-https-port */
const GITHUB_HOSTS = { ssh: ['github.com', 'ssh.github.com'], http: ['github.com', 'www.github.com'] };

/** Returns `owner/name` if an address is a repository on github.com. */
export function projectAt({ transport, host, path }: RemoteAddress): string | undefined {
  if (!GITHUB_HOSTS[transport].includes(host)) return undefined;
  const [, owner, name] = /^([\w.-]+)\/([\w.-]+?)(?:\.git)?$/.exec(path) ?? [];
  return owner === undefined || name === undefined ? undefined : `${owner}/${name}`;
}

/** Returns the host to which ssh connects for a host name, which can be an alias in the ssh configuration. */
export type ResolveHost = (host: string) => Promise<string | undefined>;

/** Like `projectAt`, but also resolves aliases from the ssh configuration. */
export async function projectOf(address: string, resolveHost: ResolveHost): Promise<string | undefined> {
  const parsed = parseAddress(address);
  if (parsed === undefined) return undefined;
  const known = projectAt(parsed);
  if (known !== undefined || parsed.transport === 'http') return known;
  const host = await resolveHost(parsed.host);
  return host === undefined ? undefined : projectAt({ ...parsed, host: host.toLowerCase() });
}

/**
 * Returns `owner/name` if "origin" has the same repository on github.com for fetching and for pushing. Git's
 * `insteadOf` settings apply to both addresses.
 * @param fetched address from which "origin" is fetched
 */
export async function projectOfOrigin(
  git: Git,
  fetched: string,
  resolveHost: ResolveHost,
): Promise<string | undefined> {
  const pushed = await git('remote', 'get-url', '--push', '--all', 'origin');
  const addresses = [...new Set([fetched, ...pushed.split('\n')])];
  const projects = await Promise.all(addresses.map((address) => projectOf(address, resolveHost)));
  return new Set(projects).size === 1 ? projects[0] : undefined;
}

/** Maximum time for ssh to print its configuration. A `Match exec` in the user's configuration can be slow. */
const SSH_PATIENCE_MS = 10_000;

/**
 * Returns a function that asks ssh for the host of an alias. It uses git's ssh command, from the user's
 * `GIT_SSH_COMMAND` or `core.sshCommand`. Git itself also calls the command with `-G` to detect the ssh variant.
 */
export function hostBySsh(command: string, env: NodeJS.ProcessEnv): ResolveHost {
  return (host) =>
    new Promise((resolve) => {
      if (!/^[\w][\w.-]*$/.test(host)) return resolve(undefined);
      // Git also runs this command in a shell. The host contains no character that a shell interprets.
      const child = spawn('/bin/sh', ['-c', `${command} -G ${host}`], {
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
        timeout: SSH_PATIENCE_MS,
      });
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString('utf8');
      });
      child.once('error', () => resolve(undefined));
      child.once('close', (code) => resolve(code === 0 ? /^hostname (\S+)$/m.exec(printed)?.[1] : undefined));
    });
}
