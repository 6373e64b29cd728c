/** Fixture: a local GitHub, and a deployment of Muster that is connected to it. */
import assert from 'node:assert/strict';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import type { GitHubSettings } from '../../../functions/src/vendors/octokit/clients.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { seedClaudeNetwork } from '../../support/github/seed.ts';
import { LocalGitHub } from '../../support/github/server.ts';
import type { Repo } from '../../support/github/state.ts';
import { call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

export const AT = { owner: 'sartor-ai', repo: 'claude-network' };

export interface ErrorAnswer {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class GitHubFixture {
  readonly team = new Team();
  readonly gitHub = new LocalGitHub();
  readonly repo: Repo;
  app: Composition;

  private constructor() {
    this.repo = seedClaudeNetwork(this.gitHub.world);
    this.app = this.compose(() => this.asApp);
  }

  static async open(): Promise<GitHubFixture> {
    const fixture = new GitHubFixture();
    await fixture.gitHub.start();
    return fixture;
  }

  /** Stops the local GitHub. Asserts that all requests and responses matched GitHub's API description. */
  async close(): Promise<void> {
    await this.gitHub.stop();
    assert.deepEqual(this.gitHub.problems, []);
  }

  get asApp(): GitHubSettings {
    return this.gitHub.asApp;
  }

  get asPerson(): GitHubSettings {
    return this.gitHub.asPerson;
  }

  /** Returns a deployment with these GitHub settings, or a new instance of the same deployment. */
  compose(gitHub: () => GitHubSettings): Composition {
    return compose(externalServicesOf({ clock: { now: () => new Date() }, gitHub }));
  }

  restart(): void {
    this.app = this.compose(() => this.asApp);
  }

  async answer(tool: string, given: JsonObject, principal?: Principal): Promise<JsonObject> {
    const { structuredContent, isError } = await this.call(tool, given, principal);
    assert.equal(isError, undefined, JSON.stringify(structuredContent));
    return structuredContent;
  }

  async refusal(tool: string, given: JsonObject, principal?: Principal): Promise<ErrorAnswer> {
    const { structuredContent, isError } = await this.call(tool, given, principal);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    const { error } = structuredContent;
    assert.ok(isErrorAnswer(error));
    return error;
  }

  private call(tool: string, given: JsonObject, principal?: Principal) {
    return call(this.team.at({ app: this.app }), `github_${tool}`, given, principal ?? this.team.principal('ann'));
  }
}

function isErrorAnswer(error: unknown): error is ErrorAnswer {
  return typeof error === 'object' && error !== null && 'code' in error && 'data' in error;
}
