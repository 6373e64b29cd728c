/** Local imitation of GitHub with an adapter that is connected to it. */
import assert from 'node:assert/strict';
import type { Log } from '../../../functions/src/kernel/ports.ts';
import { RestGitHub } from '../../../functions/src/toolsets/github/store/gitHub.ts';
import { type GitHubSettings, OctokitClients } from '../../../functions/src/vendors/octokit/clients.ts';
import { seedClaudeNetwork } from '../../support/github/seed.ts';
import { LocalGitHub } from '../../support/github/server.ts';
import type { Repo } from '../../support/github/state.ts';

export const AT = { owner: 'sartor-ai', repo: 'claude-network' };
const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export class GitHubFixture {
  readonly server = new LocalGitHub();
  readonly repo: Repo;
  readonly gitHub: RestGitHub;

  private constructor() {
    this.repo = seedClaudeNetwork(this.server.world);
    this.gitHub = this.connect(() => this.asApp);
  }

  static async open(): Promise<GitHubFixture> {
    const fixture = new GitHubFixture();
    await fixture.server.start();
    return fixture;
  }

  /** Stops the server, and fails the test if a request did not match GitHub's API description. */
  async close(): Promise<void> {
    await this.server.stop();
    assert.deepEqual(this.server.problems, []);
  }

  get asApp(): GitHubSettings {
    return this.server.asApp;
  }

  get asPerson(): GitHubSettings {
    return this.server.asPerson;
  }

  connect(settings: () => GitHubSettings): RestGitHub {
    return new RestGitHub(new OctokitClients({ settings, log: silent }));
  }

  /** Returns the status of each response that the server sent on a route. */
  answered(route: string): readonly (number | undefined)[] {
    return this.server.seen.filter((one) => one.route === route).map(({ status }) => status);
  }

  /** Number of requests that count against the rate limit of the installation. */
  get spent(): number {
    return this.server.world.spent.get('installation 70') ?? 0;
  }
}
