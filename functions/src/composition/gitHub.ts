/** Composes GitHub: how it is reached, the services over that, and what its webhook tells. */
import type { Firestore } from '../adapters/firestore/client.ts';
import { FirestorePullRequestLinks } from '../adapters/firestore/pullRequestReader.ts';
import type { DocumentReading } from '../adapters/firestore/reading.ts';
import { GitHubClients, type GitHubSettings } from '../adapters/github/clients.ts';
import { RestGitHub } from '../adapters/github/gitHub.ts';
import { GitHubWebhook } from '../adapters/github/webhook.ts';
import { gitHubSettings, gitHubWebhookKey } from '../config.ts';
import { Committing } from '../domain/github/committing.ts';
import { Deliveries, type DeliveriesDependencies } from '../domain/github/deliveries.ts';
import { Issues, type IssuesDependencies } from '../domain/github/issues.ts';
import { PullRequests, type PullRequestsDependencies } from '../domain/github/pullRequests.ts';
import { RepositoryReading } from '../domain/github/reading.ts';
import { Workflows } from '../domain/github/workflows.ts';
import type { Log } from '../domain/ports.ts';
import { TaskFinishing, type TaskFinishingDependencies } from '../domain/tasks/finishing.ts';

export interface GitHubBindings {
  /** Absent: what the environment says. */
  readonly gitHub?: (() => GitHubSettings) | undefined;
}

export function gitHubPorts(
  database: Firestore,
  { gitHub = gitHubSettings }: GitHubBindings,
  documents: DocumentReading,
  log: Log,
) {
  return {
    pullRequestLinks: new FirestorePullRequestLinks(database, documents),
    gitHub: new RestGitHub(new GitHubClients(gitHub, log)),
  };
}

export function gitHubServices(ports: IssuesDependencies & PullRequestsDependencies) {
  return {
    reading: new RepositoryReading(ports.gitHub),
    issues: new Issues(ports),
    pullRequests: new PullRequests(ports),
    committing: new Committing(ports),
    workflows: new Workflows(ports.gitHub),
  };
}

export function composeWebhook(ports: Omit<DeliveriesDependencies, 'finishing'> & TaskFinishingDependencies) {
  return new GitHubWebhook(
    gitHubWebhookKey,
    new Deliveries({ ...ports, finishing: new TaskFinishing(ports) }),
  );
}
