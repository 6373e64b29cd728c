/** A local GitHub, and the adapter that is connected to it: what needs no database is tried without one. */
import assert from 'node:assert/strict';
import type { Log } from '../../../functions/src/kernel/ports.ts';
import { RestGitHub } from '../../../functions/src/toolsets/github/store/gitHub.ts';
import { type GitHubSettings, OctokitClients } from '../../../functions/src/vendors/octokit/clients.ts';
import { seedClaudeNetwork } from '../../support/github/seed.ts';
import { LocalGitHub } from '../../support/github/server.ts';
import type { Repo } from '../../support/github/world.ts';

export const AT = { owner: 'sartor-ai', repo: 'claude-network' };

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export class GitHubStage {
  readonly server = new LocalGitHub();
  readonly repo: Repo;
  readonly gitHub: RestGitHub;

  private constructor() {
    this.repo = seedClaudeNetwork(this.server.world);
    this.gitHub = this.connect(() => this.asApp);
  }

  static async open(): Promise<GitHubStage> {
    const stage = new GitHubStage();
    await stage.server.start();
    return stage;
  }

  /** Ends it; whatever was not as GitHub's description says fails the test. */
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

  /** What was answered to those that asked for a route. */
  answered(route: string): readonly (number | undefined)[] {
    return this.server.seen.filter((one) => one.route === route).map(({ status }) => status);
  }

  /** What the installation has used of its limit. */
  get spent(): number {
    return this.server.world.spent.get('installation 70') ?? 0;
  }
}
