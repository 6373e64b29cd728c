import { z } from 'zod';
import { isVisible } from '../../../kernel/hidden.ts';
import { openIssue } from '../rules/issues.ts';
import { repositoryName } from '../rules/names.ts';
import { reachable } from '../rules/reach.ts';
import { ADDS, defineTool, inRepository } from './gitHubAnswers.ts';

export const createIssue = defineTool({
  name: 'createIssue',
  title: 'Create an issue',
  description: 'Creates an issue.',
  details:
    "An invisible comment marks the issue, so that it is found again where GitHub's answer was lost; with an idempotency_key, a repeated call never creates a second one.",
  input: z.strictObject({
    ...inRepository,
    title: z.string().min(1).max(256).refine(isVisible, 'expected some text').describe('Issue title'),
    body: z.string().optional().describe('Issue, in Markdown'),
    labels: z.array(z.string()).optional().describe('Labels'),
    assignees: z.array(z.string()).optional().describe('Users'),
    milestone: z.int().optional().describe('Number'),
  }),
  output: z.object({
    number: z.int(),
    url: z.string().optional().describe('Where people see it.'),
    title: z.string(),
    state: z.string(),
    labels: z.array(z.string()),
    assignees: z.array(z.string()).describe('GitHub drops those who cannot be assigned.'),
    createdAt: z.iso.datetime(),
    created: z.boolean().describe('False where an earlier attempt of this call had created it.'),
  }),
  annotations: ADDS,
  loosens: [],
  role: 'worker',
  approvable: true,
  example: {
    owner: 'sartor-ai',
    repo: 'claude-network',
    title: 'Retries never end',
    body: 'Seen in `src/retry.ts`.',
    labels: ['bug'],
  },
  handler: async (context, { owner, repo, ...fields }) => {
    const { services, operation, recordAnswer } = context;
    const at = await reachable(services.gitHub, context, repositoryName(owner, repo));
    return openIssue(services.gitHub, at, fields, { operation, recordAnswer });
  },
});
