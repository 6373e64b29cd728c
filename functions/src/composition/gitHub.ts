/** Composes GitHub: how it is reached, the services over that, and what its webhook tells. */
import { FirestorePullRequestLinks } from '../adapters/firestore/pullRequestReader.ts';
import { GitHubClients, type GitHubSettings } from '../adapters/github/clients.ts';
import { RestGitHub } from '../adapters/github/gitHub.ts';
import { GitHubWebhook } from '../adapters/github/webhook.ts';
import { gitHubSettings, gitHubWebhookKey } from '../config.ts';
import { Committing } from '../domain/github/committing.ts';
import { Deliveries } from '../domain/github/deliveries.ts';
import { Issues } from '../domain/github/issues.ts';
import type { GitHubPorts } from '../domain/github/ports.ts';
import { PullRequests } from '../domain/github/pullRequests.ts';
import { RepositoryReading } from '../domain/github/reading.ts';
import { Workflows } from '../domain/github/workflows.ts';
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
