import type { GitHubPorts } from './rules/ports.ts';

/** What the tools ask. */
export interface GitHubServices {
  readonly gitHub: GitHubPorts;
}
