import type { Store } from '../../kernel/commit.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { CoordinationPorts } from '../coordination/index.ts';
import { Deliveries } from './rules/deliveries.ts';
import type { GitHubChange, GitHubClients, GitHubPorts } from './rules/ports.ts';
import { linkNodeFinder } from './rules/pullRequestNode.ts';
import { RestGitHub } from './store/gitHub.ts';
import { FirestorePullRequestLinkQueries } from './store/pullRequests.ts';

export interface GitHubDependencies extends DocumentSource {
  readonly coordination: CoordinationPorts;
  readonly store: Store<GitHubChange>;
  readonly clients: GitHubClients;
  readonly openRepositories: () => readonly string[];
}

/** Creates the services of the github toolset, and the receiver of GitHub's webhook deliveries. */
export function createGitHub(dependencies: GitHubDependencies) {
  const { database, documents, coordination, store, clients, openRepositories } = dependencies;
  const pullRequestLinks = new FirestorePullRequestLinkQueries(database, documents);
  const ports: GitHubPorts = {
    ...coordination,
    store,
    gitHub: new RestGitHub(clients),
    pullRequestLinks,
    openRepositories,
  };
  const services = { gitHub: ports };
  return { ports, node: linkNodeFinder(pullRequestLinks), deliveries: new Deliveries(ports), services };
}

export type GitHubServices = ReturnType<typeof createGitHub>['services'];
