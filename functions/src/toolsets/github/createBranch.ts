import { z } from 'zod';
import type { CreatedBranch } from '../../domain/github/committing.ts';
import { repositoryName } from '../../domain/github/names.ts';
import { defineTool } from '../../mcp/tool.ts';
import { ADDS, owner, repo } from './shapes.ts';

export const createBranch = defineTool({
  name: 'createBranch',
  title: 'Create a branch',
  description:
    'Create a branch in a GitHub repository. A branch of that name at the same commit is a success, with created: false; at another commit it is a CONFLICT.',
  input: z.strictObject({
    owner,
    repo,
    branch: z.string().describe('The new branch: "feature/login".'),
    from: z
      .string()
      .optional()
      .describe('Branch, tag or commit SHA to begin at; the default branch otherwise.'),
  }),
  output: z.object({
    branch: z.string(),
    sha: z.string().describe('The commit that it is at.'),
    created: z.boolean().describe('False where it was there already.'),
  }),
  annotations: { ...ADDS, idempotentHint: true },
  role: 'worker',
  example: { owner: 'sartor-ai', repo: 'claude-network', branch: 'feature/login', from: 'main' },
  handler: async ({ services, operation }, { owner: ownerName, repo: name, branch, from }) => {
    const answer = (outcome: CreatedBranch) => ({ ...outcome });
    const outcome = await services.committing.createBranch(
      repositoryName(ownerName, name),
      branch,
      from,
      (created) => operation.settle(answer(created)),
    );
    return answer(outcome);
  },
});
