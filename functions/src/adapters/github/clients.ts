/**
 * The clients of GitHub's SDK: one for each installation of the App, or one with the token. All is made on first
 * use, packages included. Source: https://github.com/octokit/app.js;
 * https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
 */
import type { App } from '@octokit/app';
import { z } from 'zod';
import { accessDenied, gitHubNotSetUp, shownRepository } from '../../domain/github/errors.ts';
import type { RepositoryName } from '../../domain/github/repository.ts';
import type { Log } from '../../domain/ports.ts';
import { checked } from './answers.ts';
import { ask, type Client, find } from './asking.ts';
import { octokitClass } from './octokit.ts';

export interface GitHubSettings {
  /** `https://api.github.com`, or `https://host/api/v3` of a GitHub Enterprise Server. */
  readonly apiUrl: string;
  /** Either of them, or neither where the deployment has no GitHub. */
  readonly app?: { readonly id: string; readonly privateKey: string };
  readonly token?: string;
}

/** How long an installation that was found is not looked for again. */
const REMEMBERED_MILLISECONDS = 600_000;

const MAX_REMEMBERED = 1000;

const installation = z.object({ id: z.number() });

interface Remembered {
  readonly id: Promise<number | undefined>;
  readonly until: number;
}

export class GitHubClients {
  private readonly settings: () => GitHubSettings;
  private readonly log: Log;
  private opened: Promise<Opened> | undefined;
  private readonly remembered = new Map<string, Remembered>();
  private readonly installations = new Map<number, Promise<Client>>();

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
    const id = await this.installationAt(opened.app, at);
    return id === undefined ? this.foreign(opened.app) : this.installed(opened.app, id);
  }

  /** @throws MusterError ACCESS_DENIED where the App is not installed at the repository */
  async writing(at: RepositoryName): Promise<Client> {
    const opened = await this.open();
    if ('token' in opened) return opened.token;
    const id = await this.installationAt(opened.app, at);
    if (id === undefined) throw notInstalled(at);
    return this.installed(opened.app, id);
  }

  /** For what belongs to no repository. @param owner whose installation is preferred */
  async any(owner?: string): Promise<Client> {
    const opened = await this.open();
    if ('token' in opened) return opened.token;
    const id = owner === undefined ? undefined : await this.installationOf(opened.app, owner);
    return id === undefined ? this.foreign(opened.app) : this.installed(opened.app, id);
  }

  /** Whether the App is installed for a user or an organization; with a token, that has a part everywhere. */
  async isInstalledFor(owner: string): Promise<boolean> {
    const opened = await this.open();
    return 'token' in opened || (await this.installationOf(opened.app, owner)) !== undefined;
  }

  private open(): Promise<Opened> {
    this.opened ??= open(this.settings(), this.log).catch((error) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  private async installed(app: App, id: number): Promise<Client> {
    const known = this.installations.get(id);
    if (known !== undefined) return known;
    const made = app
      .getInstallationOctokit(id)
      .then((octokit) => ({ octokit, renewable: true, foreign: false }));
    this.installations.set(id, made);
    return made;
  }

  private async foreign(app: App): Promise<Client> {
    const id = await this.remember('', async () => {
      const list = await ask(asApp(app), 'GET /app/installations', { per_page: 1 });
      return checked(z.array(installation), list)[0]?.id;
    });
    if (id === undefined) {
      throw accessDenied(
        "This deployment's GitHub App is installed nowhere.",
        'Whoever runs this deployment: install it at the repositories that agents may use; see docs/guides/github.md.',
      );
    }
    return { ...(await this.installed(app, id)), foreign: true };
  }

  private installationAt(app: App, { owner, repo }: RepositoryName): Promise<number | undefined> {
    return this.remember(`${owner}/${repo}`, () =>
      foundId(app, 'GET /repos/{owner}/{repo}/installation', { owner, repo }),
    );
  }

  private installationOf(app: App, owner: string): Promise<number | undefined> {
    return this.remember(owner, () =>
      foundId(app, 'GET /users/{username}/installation', { username: owner }),
    );
  }

  /** What is not there is looked for again each time: the App may be installed any moment. */
  private remember(name: string, look: () => Promise<number | undefined>): Promise<number | undefined> {
    const key = name.toLowerCase();
    const known = this.remembered.get(key);
    if (known !== undefined && known.until > Date.now()) return known.id;
    const [oldest] = this.remembered.keys();
    if (this.remembered.size >= MAX_REMEMBERED && oldest !== undefined) this.remembered.delete(oldest);
    const forget = (): void => {
      if (this.remembered.get(key)?.id === id) this.remembered.delete(key);
    };
    const id = look();
    this.remembered.set(key, { id, until: Date.now() + REMEMBERED_MILLISECONDS });
    id.then((found) => found ?? forget(), forget);
    return id;
  }
}

type Opened = { readonly app: App } | { readonly token: Client };

async function open(settings: GitHubSettings, log: Log): Promise<Opened> {
  const { app, token } = settings;
  if (app === undefined && token === undefined) {
    throw gitHubNotSetUp('This deployment is not connected to GitHub.');
  }
  const SetUp = await octokitClass(apiUrl(settings), log);
  if (app === undefined) {
    return { token: { octokit: new SetUp({ auth: token }), renewable: false, foreign: false } };
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

function asApp(app: App): Client {
  return { octokit: app.octokit, renewable: false, foreign: false };
}

async function foundId(
  app: App,
  route: string,
  parameters: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const found = await find(asApp(app), route, parameters);
  return found === undefined ? undefined : checked(installation, found).id;
}

function notInstalled(at: RepositoryName): ReturnType<typeof accessDenied> {
  return accessDenied(
    `This deployment's GitHub App is not installed at ${shownRepository(at)}, or there is no such repository.`,
    'Check owner and repo; whoever owns it can install the App there. See docs/guides/github.md.',
  );
}
