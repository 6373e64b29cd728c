import type { Toolset } from '../../mcp/tool.ts';
import type { GitHubServices } from './create.ts';
import { commitFiles } from './tools/commitFiles.ts';
import { createBranch } from './tools/createBranch.ts';
import { createIssue } from './tools/createIssue.ts';
import { createPR } from './tools/createPR.ts';
import { getJobLogs } from './tools/getJobLogs.ts';
import { getWorkflowRuns } from './tools/getWorkflowRuns.ts';
import { readFile } from './tools/readFile.ts';
import { searchCode } from './tools/searchCode.ts';

/** Repositories. Source: the network specification, "GitHub Tools"; the last three are ours. */
export const github: Toolset<GitHubServices> = {
  name: 'github',
  instructions:
    'read and search code, branch, commit, open issues and pull requests, and see why checks failed. github.createPR with task_id completes the task when it is merged.',
  tools: [
    readFile,
    searchCode,
    createIssue,
    createPR,
    getWorkflowRuns,
    getJobLogs,
    createBranch,
    commitFiles,
  ],
  resources: [],
};

export { checked, type GitHubAnswer, type RateLimit, refusal } from './rules/answers.ts';
export { refName } from './rules/names.ts';
export type {
  GitHubChange,
  GitHubClient,
  GitHubClients,
  GitHubPorts,
  RecogniseRefusal,
  RepositoryName,
  RequestParameters,
} from './rules/ports.ts';
export { plainLine } from './rules/text.ts';
