import { z } from 'zod';
import { isVisible } from '../../../kernel/hidden.ts';
import { fileChange, MAX_BINARY_FILES } from '../rules/commitRequest.ts';
import { type CommitOutcome, commitChanges } from '../rules/committing.ts';
import { repositoryName } from '../rules/names.ts';
import { reachable } from '../rules/reach.ts';
import { ADDS, defineTool, inRepository } from './gitHubAnswers.ts';

export const commitFiles = defineTool({
  name: 'commitFiles',
  title: 'Commit files',
  description:
    'Writes and deletes up to 100 files of a branch in one commit, all or none. Never forces: a branch not at expected_parent is a CONFLICT.',
  details: `Without expected_parent, the commit goes onto whatever the branch is at. At most ${MAX_BINARY_FILES} of the files in base64. Repeating a commit whose message and files the branch is at already answers that one, with created: false.`,
  input: z.strictObject({
    ...inRepository,
    branch: z.string().describe('An existing branch'),
    message: z.string().min(1).max(10_000).refine(isVisible, 'expected some text').describe('Commit message'),
    files: z.array(fileChange).min(1).max(100).describe('Files to change'),
    expected_parent: z.string().optional().describe('SHA the branch must be at'),
  }),
  output: z.object({
    sha: z.string().describe('The commit, which the branch is at now.'),
    parent: z.string(),
    tree: z.string(),
    branch: z.string(),
    created: z.boolean().describe('False where the branch was at this very commit already.'),
  }),
  // It replaces what files held; the history keeps it.
  annotations: ADDS,
  loosens: [],
  role: 'worker',
  approvable: true,
  example: {
    owner: 'sartor-ai',
    repo: 'claude-network',
    branch: 'fix/retries',
    message: 'End retries after five attempts',
    files: [{ path: 'src/retry.ts', content: 'export const MAX_RETRIES = 5;\n' }],
  },
  answer: (outcome: CommitOutcome, { branch }) => ({ ...outcome, branch }),
  handler: async (context, { owner, repo, expected_parent, ...request }) => {
    const { gitHub } = context.services;
    const at = await reachable(gitHub, context, repositoryName(owner, repo));
    return commitChanges(gitHub, { at, expectedParent: expected_parent, ...request }, context.recordAnswer);
  },
});
