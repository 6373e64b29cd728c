import type { Toolset } from '../../mcp/tool.ts';
import type { Issues } from './rules/branches.ts';
import type { Committing } from './rules/committing.ts';
import type { PullRequests } from './rules/pullRequests.ts';
import type { RepositoryReading } from './rules/reading.ts';
import type { Workflows } from './rules/workflows.ts';
import { commitFiles } from './tools/commitFiles.ts';
import { createBranch } from './tools/createBranch.ts';
import { createIssue } from './tools/createIssue.ts';
import { createPR } from './tools/createPR.ts';
import { getJobLogs } from './tools/getJobLogs.ts';
import { getWorkflowRuns } from './tools/getWorkflowRuns.ts';
import { readFile } from './tools/readFile.ts';
import { searchCode } from './tools/searchCode.ts';

/** Repositories. Source: spec/network.md, "GitHub Tools"; the last three are ours. */
export const github: Toolset = {
  name: 'github',
  instructions:
    'read and search code, branch, commit, open issues and pull requests, and see why checks failed. createPR with task_id completes the task when it is merged.',
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

declare module '../../mcp/callContext.ts' {
  interface Services {
    readonly reading: RepositoryReading;
    readonly issues: Issues;
    readonly pullRequests: PullRequests;
    readonly committing: Committing;
    readonly workflows: Workflows;
  }
}

export {
  accessDenied,
  archived,
  blocked,
  gitHubNotSetUp,
  gitHubUnavailable,
  rateLimited,
  repositoryNotFound,
  shownRepository,
  tooLargeForGitHub,
  tooSlow,
  unexpectedAnswer,
} from './rules/errors.ts';
export { plainLine, plainText, refName, webAddress } from './rules/names.ts';
export type {
  CodeHit,
  CodeHits,
  CodeSearch,
  Commit,
  Contents,
  GitHub,
  GitHubPorts,
  Issue,
  Job,
  ListedEntry,
  NewIssue,
  NewPullRequest,
  PullRequest,
  RateLimit,
  Repository,
  RepositoryName,
  TreeEntry,
  TreeListing,
  WorkflowRun,
  WorkflowRunQuery,
  WorkflowRuns,
} from './rules/port.ts';
export type { Delivery } from './rules/pullRequests.ts';
