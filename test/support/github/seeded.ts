import type { GitHubSettings } from '../../../functions/src/vendors/octokit/clients.ts';
import { seedClaudeNetwork } from './seed.ts';
import { LocalGitHub } from './server.ts';

/** Runs a local GitHub with sample data during a `describe` block, and returns a function for its App's settings. */
export function seededGitHub(): () => GitHubSettings {
  const gitHub = new LocalGitHub();
  seedClaudeNetwork(gitHub.world);
  before(() => gitHub.start());
  after(() => gitHub.stop());
  return () => gitHub.asApp;
}
