/** Runs a local GitHub with sample data in a separate process, and prints the parameters for the functions. */
import { randomBytes } from 'node:crypto';
import { seedClaudeNetwork } from './seed.ts';
import { LocalGitHub } from './server.ts';

const gitHub = new LocalGitHub();
seedClaudeNetwork(gitHub.world);
await gitHub.start();
const { id, privateKey } = gitHub.world.app;
const parameters = {
  GITHUB_API_URL: gitHub.url,
  GITHUB_APP_ID: id,
  GITHUB_REPOSITORIES: 'sartor-ai/*, octocat/*, nobody/*',
  GITHUB_APP_PRIVATE_KEY: privateKey,
  GITHUB_WEBHOOK_SECRET: randomBytes(20).toString('hex'),
};
process.stdout.write(`parameters: ${JSON.stringify(parameters)}\n`);
