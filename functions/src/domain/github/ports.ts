/** How GitHub is reached, and which task a pull request concerns. */
import type { CoordinationPorts } from '../coordination/ports.ts';
import type { PullRequestLinks } from './link.ts';
import type { GitHub } from './port.ts';

export interface GitHubPorts extends CoordinationPorts {
  readonly gitHub: GitHub;
  readonly pullRequestLinks: PullRequestLinks;
}
