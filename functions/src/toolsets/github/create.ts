import type { WaitReason } from '../../access/rules/decision.ts';
import type { Store } from '../../kernel/commit.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { CoordinationPorts } from '../coordination/index.ts';
import { Deliveries } from './rules/deliveries.ts';
import { linkNodeFinder } from './rules/link.ts';
import type { GitHubChange, GitHubClients, GitHubPorts } from './rules/ports.ts';
import { RestGitHub } from './store/gitHub.ts';
import { FirestorePullRequestLinkQueries } from './store/pullRequests.ts';

export interface GitHubDependencies extends DocumentSource {
  readonly coordination: CoordinationPorts;
  readonly store: Store<GitHubChange>;
  readonly clients: GitHubClients;
  readonly openRepositories: () => readonly string[];
}

const NOT_SET_UP: WaitReason = {
  why: 'GitHub is not set up in this deployment.',
  remedy: 'The operator sets GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN: docs/guides/github.md.',
};

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
  /** Returns why the tools cannot reach GitHub. */
  const obstacles = (): readonly WaitReason[] => (clients.configured ? [] : [NOT_SET_UP]);
  return { ports, node: linkNodeFinder(pullRequestLinks), deliveries: new Deliveries(ports), obstacles, services };
}

export type GitHubServices = ReturnType<typeof createGitHub>['services'];
