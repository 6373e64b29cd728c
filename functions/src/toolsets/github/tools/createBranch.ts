import { z } from 'zod';
import { makeBranch } from '../rules/committing.ts';
import { repositoryName } from '../rules/names.ts';
import { reachable } from '../rules/reach.ts';
import { ADDS, defineTool, inRepository } from './gitHubAnswers.ts';

export const createBranch = defineTool({
  name: 'createBranch',
  title: 'Create a branch',
  description:
    'Creates a branch. The same name at the same commit is a success, at another commit a CONFLICT.',
  details: 'Where it was there already, the answer has created: false.',
  input: z.strictObject({
    ...inRepository,
    branch: z.string().describe('The new branch'),
    from: z.string().optional().describe('Branch, tag or commit; default branch if left out'),
  }),
  output: z.object({
    branch: z.string(),
    sha: z.string().describe('The commit that it is at.'),
    created: z.boolean().describe('False where it was there already.'),
  }),
  annotations: { ...ADDS, idempotentHint: true },
  loosens: [],
  role: 'worker',
  approvable: true,
  example: { owner: 'sartor-ai', repo: 'claude-network', branch: 'feature/login', from: 'main' },
  handler: async (context, { owner, repo, branch, from }) => {
    const { services, recordAnswer } = context;
    const at = await reachable(services.gitHub, context, repositoryName(owner, repo));
    return makeBranch(services.gitHub, at, { branch, from }, recordAnswer);
  },
});
