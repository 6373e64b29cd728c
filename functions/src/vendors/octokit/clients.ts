/** GitHub's SDK with its plugins, and the clients that an App or a token has. */

import type { App } from '@octokit/app';
import type { Octokit } from '@octokit/core';
import type { ThrottlingOptions } from '@octokit/plugin-throttling';
import { z } from 'zod';
import type { MusterError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/ports.ts';
import {
  accessDenied,
  gitHubNotSetUp,
  type RepositoryName,
  repositoryNotFound,
  shownRepository,
} from '../../toolsets/github/index.ts';
import { checked } from './answers.ts';
import { type Asking, ask, type Client, find, KnownAnswers } from './asking.ts';

/** How soon GitHub is asked, asked again, and given up. */
export interface Pace {
  /**
   * What requests of these kinds wait in. Left out, the SDK's own, which keep the pace that GitHub asks of programs: a
   * write a second, a search every two. Source: https://github.com/octokit/plugin-throttling.js
   */
  readonly queues?: Required<Pick<ThrottlingOptions, 'write' | 'search' | 'notifications'>>;
  /** The first wait before another try; the second is four times as long. */
  readonly retryBaseMilliseconds: number;
  /** For one request, its wait for a turn and its retries included, so that a tool's few fit into its call. */
  readonly timeoutMilliseconds: number;
}

/** Of a deployment. */
export const USUAL_PACE: Pace = { retryBaseMilliseconds: 500, timeoutMilliseconds: 20_000 };

/** A rate limit that ends within so many seconds is waited for, once. */
const WORTH_WAITING_SECONDS = 3;

/** How often what GitHub or the network breaks is tried again, where trying again does no harm. */
const RETRIES = 2;

/** What another try does not mend. Rate limits are the throttling plugin's. */
const FINAL_STATUSES = [400, 401, 403, 404, 409, 410, 422, 429, 451];

async function octokitClass(
  baseUrl: string,
  log: Log,
  { queues, retryBaseMilliseconds }: Pace,
): Promise<typeof Octokit> {
  const [core, { retry }, { throttling }] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/plugin-retry'),
    import('@octokit/plugin-throttling'),
  ]);
  const wait = (retryAfter: number, _options: unknown, _octokit: unknown, retryCount: number): boolean =>
    retryAfter <= WORTH_WAITING_SECONDS && retryCount === 0;
  const sdkLog = silentButFor(log);
  return core.Octokit.plugin(retry, throttling).defaults({
    baseUrl,
    userAgent: 'muster',
    log: sdkLog,
    request: { log: sdkLog },
    retry: { retries: RETRIES, retryAfterBaseValue: retryBaseMilliseconds, doNotRetry: FINAL_STATUSES },
    // Queues are per id: deployments in one process, as tests have them, must not wait for each other.
    throttle: { id: baseUrl, onRateLimit: wait, onSecondaryRateLimit: wait, ...queues },
  });
}

/** The SDK's own notes may quote what GitHub said: only that there was one is logged. */
function silentButFor(log: Log) {
  const note = (): void => log.info('github_sdk_note', {});
  const nothing = (): void => undefined;
  return { debug: nothing, info: nothing, warn: note, error: note };
}

// The clients of GitHub's SDK: one for each installation of the App, or one with the token. All is made on
// first use, packages included. Source: https://github.com/octokit/app.js;
// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app

export interface GitHubSettings {
  /** `https://api.github.com`, or `https://host/api/v3` of a GitHub Enterprise Server. */
  readonly apiUrl: string;
  /** Either of them, or neither where the deployment has no GitHub. */
  readonly app?: { readonly id: string; readonly privateKey: string };
  readonly token?: string;
  /** Left out: as GitHub asks of programs. */
  readonly pace?: Pace;
}

/** How long an installation that was found is not looked for again. */
const REMEMBERED_MILLISECONDS = 600_000;

const MAX_REMEMBERED = 1000;

const installation = z
  .object({ id: z.number(), repository_selection: z.enum(['all', 'selected']).catch('selected') })
  .transform(({ id, repository_selection }) => ({ id, selection: repository_selection }));

type Installation = z.output<typeof installation>;

interface Remembered {
  readonly found: Promise<Installation | undefined>;
  readonly until: number;
}

export class GitHubClients {
  private readonly settings: () => GitHubSettings;
  private readonly log: Log;
  private opened: Promise<Opened> | undefined;
  private readonly remembered = new Map<string, Remembered>();
  private readonly installations = new Map<number, Promise<Client>>();
  private readonly known = new KnownAnswers();

  constructor(settings: () => GitHubSettings, log: Log) {
    this.settings = settings;
    this.log = log;
  }

  get configured(): boolean {
    const { app, token } = this.settings();
    return app !== undefined || token !== undefined;
  }

  /** For reading: where the App is not installed at the repository, another installation sees what is public. */
  async reading(at: RepositoryName): Promise<Client> {
    const opened = await this.open();
    if ('token' in opened) return opened.token;
    const found = await this.installationAt(opened.app, at);
    return found === undefined ? this.foreign(opened.app) : this.installed(opened.app, found);
  }

  /** @throws MusterError ACCESS_DENIED where the App is not installed at the repository; NOT_FOUND */
  async writing(at: RepositoryName): Promise<Client> {
    const opened = await this.open();
    if ('token' in opened) return opened.token;
    const found = await this.installationAt(opened.app, at);
    if (found === undefined) throw (await this.hiding(at)) ?? repositoryNotFound(at);
    return this.installed(opened.app, found);
  }

  /** For what belongs to no repository. @param owner whose installation is preferred */
  async any(owner?: string): Promise<Client> {
    const opened = await this.open();
    if ('token' in opened) return opened.token;
    const found = owner === undefined ? undefined : await this.installationOf(opened.app, owner);
    return found === undefined ? this.foreign(opened.app) : this.installed(opened.app, found);
  }

  /**
   * Looks again at a repository that GitHub says is not there: it says the same of private ones. Undefined where it
   * is certain that there is none; with a token, where nothing speaks against it.
   */
  async hiding(at: RepositoryName): Promise<MusterError | undefined> {
    const opened = await this.open();
    if ('token' in opened) return undefined;
    const { app } = opened;
    this.remembered.delete(nameOf(at));
    this.remembered.delete(at.owner.toLowerCase());
    if ((await this.installationAt(app, at)) !== undefined) return undefined;
    const owner = await this.installationOf(app, at.owner);
    if (owner?.selection === 'all') return undefined;
    if (owner !== undefined) return notSelected(at);
    const account = await find(await this.foreign(app), 'GET /users/{username}', { username: at.owner });
    return account === undefined ? undefined : notInstalled(at);
  }

  private get shared() {
    const { timeoutMilliseconds } = this.settings().pace ?? USUAL_PACE;
    return { known: this.known, timeoutMilliseconds };
  }

  private open(): Promise<Opened> {
    this.opened ??= open(this.settings(), this.log, this.shared).catch((error) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  private async installed(app: App, { id }: Installation): Promise<Client> {
    const made = this.installations.get(id) ?? this.install(app, id);
    this.installations.set(id, made);
    return made;
  }

  private async install(app: App, id: number): Promise<Client> {
    const octokit = await app.getInstallationOctokit(id);
    return { octokit, renewable: true, credential: `installation ${id}`, ...this.shared };
  }

  private async foreign(app: App): Promise<Client> {
    const found = await this.remember('', async () => {
      const list = await ask(this.asApp(app), 'GET /app/installations', { per_page: 1 });
      return checked(z.array(installation), list)[0];
    });
    if (found === undefined) {
      throw accessDenied(
        "This deployment's GitHub App is installed nowhere.",
        'Whoever runs this deployment: install it at the repositories that agents may use; see docs/guides/github.md.',
      );
    }
    return this.installed(app, found);
  }

  private installationAt(app: App, at: RepositoryName): Promise<Installation | undefined> {
    const route = 'GET /repos/{owner}/{repo}/installation';
    return this.remember(nameOf(at), () => this.look(app, route, { ...at }));
  }

  private installationOf(app: App, owner: string): Promise<Installation | undefined> {
    const route = 'GET /users/{username}/installation';
    return this.remember(owner.toLowerCase(), () => this.look(app, route, { username: owner }));
  }

  private async look(app: App, route: string, parameters: Asking): Promise<Installation | undefined> {
    const found = await find(this.asApp(app), route, parameters);
    return found && checked(installation, found);
  }

  private asApp(app: App): Client {
    return { octokit: app.octokit, renewable: false, ...this.shared };
  }

  /** What is not there is looked for again each time: the App may be installed any moment. */
  private remember(
    name: string,
    look: () => Promise<Installation | undefined>,
  ): Promise<Installation | undefined> {
    const before = this.remembered.get(name);
    if (before !== undefined && before.until > Date.now()) return before.found;
    const [oldest] = this.remembered.keys();
    if (this.remembered.size >= MAX_REMEMBERED && oldest !== undefined) this.remembered.delete(oldest);
    const forget = (): void => {
      if (this.remembered.get(name)?.found === found) this.remembered.delete(name);
    };
    const found = look();
    this.remembered.set(name, { found, until: Date.now() + REMEMBERED_MILLISECONDS });
    found.then((installed) => installed ?? forget(), forget);
    return found;
  }
}

type Opened = { readonly app: App } | { readonly token: Client };

async function open(
  settings: GitHubSettings,
  log: Log,
  shared: Pick<Client, 'known' | 'timeoutMilliseconds'>,
): Promise<Opened> {
  const { app, token } = settings;
  if (app === undefined && token === undefined) {
    throw gitHubNotSetUp('This deployment is not connected to GitHub.');
  }
  const SetUp = await octokitClass(apiUrl(settings), log, settings.pace ?? USUAL_PACE);
  if (app === undefined) {
    const octokit = new SetUp({ auth: token });
    return { token: { octokit, renewable: false, credential: 'token', ...shared } };
  }
  const { App: AppClass } = await import('@octokit/app');
  return { app: new AppClass({ appId: app.id, privateKey: app.privateKey, Octokit: SetUp }) };
}

/** Credentials go over TLS, or stay on this machine. */
function apiUrl({ apiUrl: text }: GitHubSettings): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const local = url?.protocol === 'http:' && /^(127\.0\.0\.1|localhost)$/.test(url.hostname);
  if (url?.protocol === 'https:' || local) return text.replace(/\/+$/, '');
  throw gitHubNotSetUp('GITHUB_API_URL is not an https:// address.');
}

function nameOf({ owner, repo }: RepositoryName): string {
  return `${owner}/${repo}`.toLowerCase();
}

function notInstalled(at: RepositoryName): MusterError {
  return accessDenied(
    `This deployment's GitHub App is not installed at ${shownRepository(at)}, or there is no such repository.`,
    'Check owner and repo; whoever owns it can install the App there. See docs/guides/github.md.',
  );
}

function notSelected(at: RepositoryName): MusterError {
  return accessDenied(
    `${shownRepository(at)} is not among the repositories that this deployment's GitHub App was given, or there is no such repository.`,
    'Check owner and repo; whoever owns it can add it to the installed App. See docs/guides/github.md.',
  );
}
