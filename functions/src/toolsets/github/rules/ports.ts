/** How GitHub is reached, and which task a pull request concerns. */
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { GitHub } from './port.ts';
import type { PullRequestLinks } from './pullRequests.ts';

export interface GitHubPorts extends CoordinationPorts {
  readonly gitHub: GitHub;
  readonly pullRequestLinks: PullRequestLinks;
}
