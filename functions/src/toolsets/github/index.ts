import type { Toolset } from '../../mcp/tool.ts';
import { commitFiles } from './commitFiles.ts';
import { createBranch } from './createBranch.ts';
import { createIssue } from './createIssue.ts';
import { createPR } from './createPR.ts';
import { getJobLogs } from './getJobLogs.ts';
import { getWorkflowRuns } from './getWorkflowRuns.ts';
import { readFile } from './readFile.ts';
import { searchCode } from './searchCode.ts';

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
