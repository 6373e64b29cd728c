/** Composes GitHub: how it is reached, the services over that, and what its webhook tells. */
import { gitHubSettings, gitHubWebhookKey } from '../config.ts';
import { Issues } from '../toolsets/github/rules/branches.ts';
import { Committing } from '../toolsets/github/rules/committing.ts';
import { Deliveries } from '../toolsets/github/rules/deliveries.ts';
import type { GitHubPorts } from '../toolsets/github/rules/ports.ts';
import { PullRequests } from '../toolsets/github/rules/pullRequests.ts';
import { RepositoryReading } from '../toolsets/github/rules/reading.ts';
import { Workflows } from '../toolsets/github/rules/workflows.ts';
import { FirestorePullRequestLinks } from '../toolsets/github/store/pullRequests.ts';
import { GitHubClients, type GitHubSettings } from '../vendors/octokit/clients.ts';
import { RestGitHub } from '../vendors/octokit/gitHub.ts';
import { GitHubWebhook } from '../vendors/octokit/webhook.ts';
import type { Foundation } from './foundation.ts';

export interface GitHubBindings {
  /** Absent: what the environment says. */
  readonly gitHub?: (() => GitHubSettings) | undefined;
}

export function gitHubPorts(
  { database, documents, log }: Foundation,
  { gitHub = gitHubSettings }: GitHubBindings,
) {
  return {
    pullRequestLinks: new FirestorePullRequestLinks(database, documents),
    gitHub: new RestGitHub(new GitHubClients(gitHub, log)),
  };
}

export function gitHubServices(ports: GitHubPorts) {
  return {
    reading: new RepositoryReading(ports.gitHub),
    issues: new Issues(ports),
    pullRequests: new PullRequests(ports),
    committing: new Committing(ports),
    workflows: new Workflows(ports.gitHub),
    webhook: new GitHubWebhook(gitHubWebhookKey, new Deliveries(ports)),
  };
}
