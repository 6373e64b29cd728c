import { z } from 'zod';
import { MAX_BINARY_FILES } from '../../domain/github/commitRequest.ts';
import type { CommitOutcome } from '../../domain/github/committing.ts';
import { repositoryName } from '../../domain/github/names.ts';
import { defineTool } from '../../mcp/tool.ts';
import { ADDS, owner, repo } from './shapes.ts';

const file = z.strictObject({
  path: z.string().describe('File path within repository'),
  content: z.string().optional().describe('The whole content, text or base64.'),
  encoding: z.enum(['utf8', 'base64']).default('utf8').describe('How content is given.'),
  executable: z.boolean().optional().describe('Whether it is a program; as it was, if not given.'),
  delete: z.boolean().default(false).describe('Delete it, instead of content.'),
});

export const commitFiles = defineTool({
  name: 'commitFiles',
  title: 'Commit files',
  description: `Write, replace and delete several files of a branch in one commit: all of them or none. Never by force: with expected_parent, a branch that has moved on is a CONFLICT; without it, the commit goes onto whatever the branch is at. At most 100 files, ${MAX_BINARY_FILES} of them in base64. Repeating a commit whose message and files the branch is at already answers that one, with created: false.`,
  input: z.strictObject({
    owner,
    repo,
    branch: z.string().describe('An existing branch; github.createBranch makes one.'),
    message: z.string().min(1).max(10_000).describe('The commit message.'),
    files: z.array(file).min(1).max(100).describe('What changes.'),
    expected_parent: z.string().optional().describe('The SHA that the branch must still be at.'),
  }),
  output: z.object({
    sha: z.string().describe('The commit, which the branch is at now.'),
    parent: z.string(),
    tree: z.string(),
    branch: z.string(),
    created: z.boolean().describe('False where the branch was at this very commit already.'),
  }),
  // It replaces what files held; the history keeps it.
  annotations: { ...ADDS, destructiveHint: true },
  role: 'worker',
  example: {
    owner: 'sartor-ai',
    repo: 'claude-network',
    branch: 'fix/retries',
    message: 'End retries after five attempts',
    files: [{ path: 'src/retry.ts', content: 'export const MAX_RETRIES = 5;\n' }],
  },
  handler: async ({ services, operation }, input) => {
    const { branch, message, files, expected_parent: expectedParent } = input;
    const answer = (outcome: CommitOutcome) => ({ ...outcome, branch });
    const outcome = await services.committing.commitFiles(
      { at: repositoryName(input.owner, input.repo), branch, message, files, expectedParent },
      (committed) => operation.settle(answer(committed)),
    );
    return answer(outcome);
  },
});
