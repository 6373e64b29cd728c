import type { GitHubSettings } from '../../../functions/src/vendors/octokit/clients.ts';
import { seedClaudeNetwork } from './seed.ts';
import { LocalGitHub } from './server.ts';

/** A seeded GitHub for the tests of a `describe`, and the settings that connect a deployment to it as its App. */
export function seededGitHub(): () => GitHubSettings {
  const gitHub = new LocalGitHub();
  seedClaudeNetwork(gitHub.world);
  before(() => gitHub.start());
  after(() => gitHub.stop());
  return () => gitHub.asApp;
}
