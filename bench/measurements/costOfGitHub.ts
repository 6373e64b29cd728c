/** Calls every github tool with the example in its definition, against the tests' local GitHub. */
import { github } from '../../functions/src/toolsets/github/index.ts';
import { seedClaudeNetwork } from '../../test/support/github/seed.ts';
import { LocalGitHub } from '../../test/support/github/server.ts';
import type { GitHubState } from '../../test/support/github/state.ts';
import type { Cast, Ledger } from './costLedger.ts';

export interface ConnectedGitHub {
  /** Parameters with which the function reaches the local GitHub. */
  readonly env: Readonly<Record<string, string>>;
  readonly world: GitHubState;
  stop(): Promise<unknown>;
}

export async function startGitHub(): Promise<ConnectedGitHub> {
  const gitHub = new LocalGitHub();
  seedClaudeNetwork(gitHub.world);
  await gitHub.start();
  const { id, privateKey } = gitHub.world.app;
  return {
    world: gitHub.world,
    env: {
      GITHUB_API_URL: gitHub.url,
      GITHUB_APP_ID: id,
      GITHUB_APP_PRIVATE_KEY: privateKey,
      GITHUB_REPOSITORIES: 'sartor-ai/*',
    },
    stop: async () => gitHub.stop(),
  };
}

export async function playGitHub({ worker }: Cast, ledger: Ledger): Promise<void> {
  for (const { name, example } of github.tools) await ledger.call(worker, `github.${name}`, example);
}
