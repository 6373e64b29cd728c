/**
 * Clients of the GitHub SDK: one for each installation of the GitHub App, or a single one for the token. Clients and
 * packages are loaded when they are first used. Source: https://github.com/octokit/app.js;
 * https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
 */
import type { App } from '@octokit/app';
import type { Octokit } from '@octokit/core';
import type { ThrottlingOptions } from '@octokit/plugin-throttling';
import { z } from 'zod';
import type { MusterError } from '../../kernel/errors.ts';
import { BoundedMap, loadedOnce } from '../../kernel/memoCache.ts';
import { isSafeAddress } from '../../kernel/platform.ts';
import { type Log, Service } from '../../kernel/ports.ts';
import {
  checkedResponse,
  type GitHubClients,
  type RepositoryName,
  type RequestParameters,
  refusal,
} from '../../toolsets/github/index.ts';
import { OctokitClient, ResponseCache } from './octokitClient.ts';

export interface RequestPace {
  /**
   * Queues by kind of request; by default, the queues of the SDK, which keep to the rate that GitHub recommends: one
   * write per second, and one search every two seconds. Source: https://github.com/octokit/plugin-throttling.js
   */
  readonly queues?: Required<Pick<ThrottlingOptions, 'write' | 'search' | 'notifications'>>;
  /** Time before the first retry. The time before the second retry is four times as long. */
  readonly retryBaseMilliseconds: number;
  /** Timeout of a request with its queueing and retries. The few requests of a tool must fit into one call. */
  readonly timeoutMilliseconds: number;
}

export const DEFAULT_PACE: RequestPace = { retryBaseMilliseconds: 500, timeoutMilliseconds: 20_000 };

/** Maximum time to wait for the end of a rate limit, in seconds. A request waits only once. */
const MAX_RATE_LIMIT_WAIT_SECONDS = 3;

/** Number of retries of idempotent requests after failures of GitHub or the network. */
const RETRIES = 2;

/** Status codes that are not retried. The throttling plugin waits for the end of rate limits. */
const FINAL_STATUSES = [400, 401, 403, 404, 409, 410, 422, 429, 451];

async function octokitClass(baseUrl: string, log: Log, { queues, retryBaseMilliseconds }: RequestPace) {
  const [core, { retry }, { throttling }] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/plugin-retry'),
    import('@octokit/plugin-throttling'),
  ]);
  const wait = (retryAfter: number, _options: unknown, _octokit: unknown, retryCount: number): boolean =>
    retryAfter <= MAX_RATE_LIMIT_WAIT_SECONDS && retryCount === 0;
  // Logs that the SDK has written a warning or an error, but not its text, which may quote responses of GitHub.
  const note = (): void => log.info('github_sdk_note', {});
  const nothing = (): void => undefined;
  const sdkLog = { debug: nothing, info: nothing, warn: note, error: note };
  return core.Octokit.plugin(retry, throttling).defaults({
    baseUrl,
    userAgent: 'muster',
    log: sdkLog,
    request: { log: sdkLog },
    retry: { retries: RETRIES, retryAfterBaseValue: retryBaseMilliseconds, doNotRetry: FINAL_STATUSES },
    // Queues are separate for each id, so that deployments in the same process, as in tests, do not share queues.
    throttle: { id: baseUrl, onRateLimit: wait, onSecondaryRateLimit: wait, ...queues },
  });
}

export interface GitHubSettings {
  /** `https://api.github.com`, or `https://host/api/v3` for GitHub Enterprise Server. */
  readonly apiUrl: string;
  /** App or token. If both are absent, the deployment is not connected to GitHub. */
  readonly app?: { readonly id: string; readonly privateKey: string };
  readonly token?: string;
  /** Rate of requests; by default, the rate that GitHub recommends. */
  readonly pace?: RequestPace;
}

const INSTALLATION_TTL_MS = 600_000;
const MAX_CACHED_INSTALLATIONS = 1000;
const installation = z.object({ id: z.number(), repository_selection: z.enum(['all', 'selected']).catch('selected') });
type Installation = z.output<typeof installation>;

export class OctokitClients
  extends Service<{ readonly settings: () => GitHubSettings; readonly log: Log }>
  implements GitHubClients
{
  private readonly open = loadedOnce(() => this.connect());
  private readonly cached = new BoundedMap<
    string,
    { readonly found: Promise<Installation | undefined>; readonly until: number }
  >(MAX_CACHED_INSTALLATIONS);
  private readonly installations = new Map<number, Promise<OctokitClient>>();
  private readonly responseCache = new ResponseCache();

  get configured(): boolean {
    const { app, token } = this.ports.settings();
    return app !== undefined || token !== undefined;
  }

  reading(at: RepositoryName): Promise<OctokitClient> {
    return this.clientOf(async (app) => (await this.installationAt(app, at)) ?? this.foreignRepository(app));
  }

  writing(at: RepositoryName): Promise<OctokitClient> {
    return this.clientOf(async (app) => {
      const found = await this.installationAt(app, at);
      if (found === undefined) throw (await this.hiding(at)) ?? refusal('NOT_FOUND', 'repository', at);
      return found;
    });
  }

  any(owner?: string): Promise<OctokitClient> {
    return this.clientOf(async (app) => {
      const found = owner === undefined ? undefined : await this.installationOf(app, owner);
      return found ?? this.foreignRepository(app);
    });
  }

  async hiding(at: RepositoryName): Promise<MusterError | undefined> {
    const app = await this.open();
    if (app instanceof OctokitClient) return undefined;
    this.cached.delete(nameOf(at));
    this.cached.delete(at.owner.toLowerCase());
    if ((await this.installationAt(app, at)) !== undefined) return undefined;
    const owner = await this.installationOf(app, at.owner);
    if (owner?.repository_selection === 'all') return undefined;
    if (owner !== undefined) return refusal('FORBIDDEN', 'notSelected', at);
    const account = await (await this.any()).find('GET /users/{username}', { username: at.owner });
    return account && refusal('FORBIDDEN', 'notInstalled', at);
  }

  private async connect(): Promise<App | OctokitClient> {
    const { app, token, apiUrl, pace = DEFAULT_PACE } = this.ports.settings();
    if (app === undefined && token === undefined) throw notConfigured('This deployment is not connected to GitHub.');
    // Credentials are sent only over TLS or to the same machine.
    if (!isSafeAddress(apiUrl)) throw notConfigured('GITHUB_API_URL is not an https:// address.');
    const SetUp = await octokitClass(apiUrl.replace(/\/+$/, ''), this.ports.log, pace);
    if (app === undefined) return this.client(new SetUp({ auth: token }), { credential: 'token' });
    const { App: AppClass } = await import('@octokit/app');
    return new AppClass({ appId: app.id, privateKey: app.privateKey, Octokit: SetUp });
  }

  private client(octokit: Octokit, credential: { readonly credential?: string; readonly renewable?: boolean }) {
    const { timeoutMilliseconds } = this.ports.settings().pace ?? DEFAULT_PACE;
    return new OctokitClient({ octokit, ...credential, cache: this.responseCache, timeoutMilliseconds });
  }

  /** Returns the client of an installation, or of the token if there is no App. */
  private async clientOf(find: (app: App) => Promise<Installation>): Promise<OctokitClient> {
    const app = await this.open();
    if (app instanceof OctokitClient) return app;
    const { id } = await find(app);
    const made = this.installations.get(id) ?? this.install(app, id);
    this.installations.set(id, made);
    return made;
  }

  private async install(app: App, id: number): Promise<OctokitClient> {
    const octokit = await app.getInstallationOctokit(id);
    return this.client(octokit, { credential: `installation ${id}`, renewable: true });
  }

  /** Returns any installation of the App. Every installation can read all public repositories on GitHub. */
  private async foreignRepository(app: App): Promise<Installation> {
    const found = await this.cache('', async () => {
      const list = await this.client(app.octokit, {}).ask('GET /app/installations', { per_page: 1 });
      return checkedResponse(z.array(installation), list)[0];
    });
    if (found !== undefined) return found;
    throw refusal('FORBIDDEN', 'installedNowhere');
  }

  private installationAt(app: App, at: RepositoryName): Promise<Installation | undefined> {
    return this.installation(app, nameOf(at), 'GET /repos/{owner}/{repo}/installation', at);
  }

  private installationOf(app: App, owner: string): Promise<Installation | undefined> {
    const account = { username: owner };
    return this.installation(app, owner.toLowerCase(), 'GET /users/{username}/installation', account);
  }

  private installation(app: App, name: string, route: string, parameters: RequestParameters) {
    return this.cache(name, async () => {
      const found = await this.client(app.octokit, {}).find(route, parameters);
      return found && checkedResponse(installation, found);
    });
  }

  /** Caches only installations that exist, because the App may be installed at any time. */
  private cache(name: string, look: () => Promise<Installation | undefined>): Promise<Installation | undefined> {
    const before = this.cached.get(name);
    if (before !== undefined && before.until > Date.now()) return before.found;
    const found = look();
    const forget = (): void => {
      if (this.cached.get(name)?.found === found) this.cached.delete(name);
    };
    this.cached.set(name, { found, until: Date.now() + INSTALLATION_TTL_MS });
    found.then((installed) => installed ?? forget(), forget);
    return found;
  }
}

function nameOf({ owner, repo }: RepositoryName): string {
  return `${owner}/${repo}`.toLowerCase();
}

function notConfigured(wrong: string): MusterError {
  return refusal('GITHUB_ERROR', 'notSetUp', { wrong });
}
