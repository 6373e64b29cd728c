import type { Toolset } from '../../mcp/tool.ts';
import type { GitHubServices } from './create.ts';
import { getJobLogs, getWorkflowRuns } from './tools/actions.ts';
import { commitFiles, createBranch, readFile, searchCode } from './tools/code.ts';
import { createIssue, createPR } from './tools/tracker.ts';

/** GitHub tools. The last three are not in the specification. Source: the network specification, "GitHub Tools". */
export const github: Toolset<GitHubServices> = {
  name: 'github',
  instructions: 'read and search code, branch, commit, open issues and pull requests, and see why checks failed.',
  tools: [readFile, searchCode, createIssue, createPR, getWorkflowRuns, getJobLogs, createBranch, commitFiles],
  resources: [],
};

export { refName } from './rules/names.ts';
export type {
  GitHubChange,
  GitHubClient,
  GitHubClients,
  GitHubPorts,
  RecognizeRefusal,
  RepositoryName,
  RequestParameters,
} from './rules/ports.ts';
export { checkedResponse, type GitHubResponse, type RateLimit, refusal } from './rules/responses.ts';
export { plainLine } from './rules/text.ts';
