import { z } from 'zod';
import { repositoryName } from '../../domain/github/names.ts';
import type { CreatedPullRequest } from '../../domain/github/pullRequests.ts';
import { idOf } from '../../domain/ids.ts';
import { defineTool } from '../../mcp/tool.ts';
import { ADDS, owner, repo } from './shapes.ts';

export const createPR = defineTool({
  name: 'createPR',
  title: 'Create a pull request',
  description:
    'Create a pull request. Where there is an open one from the same branch into the same branch, that one is answered, unchanged, with created: false. With task_id, the task is completed when the pull request is merged, and checks that fail are noted below tasks/<task_id>/logs.',
  input: z.strictObject({
    owner,
    repo,
    title: z.string().min(1).max(256).describe('PR title'),
    body: z.string().optional().describe('PR description (Markdown supported)'),
    head: z.string().describe('Branch to merge from'),
    base: z.string().describe('Branch to merge into'),
    draft: z.boolean().default(false).describe('Create as draft PR'),
    maintainer_can_modify: z
      .boolean()
      .default(true)
      .describe('Whether maintainers of base may push to head.'),
    task_id: idOf('a task').optional().describe('The task that merging it completes.'),
  }),
  output: z.object({
    number: z.int(),
    url: z.string().optional().describe('Where people see it.'),
    title: z.string(),
    state: z.string(),
    draft: z.boolean(),
    head: z.string(),
    headSha: z.string(),
    base: z.string(),
    createdAt: z.iso.datetime(),
    created: z.boolean().describe('False where it was there already.'),
    taskId: z.string().optional(),
  }),
  annotations: ADDS,
  role: 'worker',
  example: {
    owner: 'sartor-ai',
    repo: 'claude-network',
    title: 'End retries after three attempts',
    head: 'fix/retries',
    base: 'main',
  },
  handler: async ({ services, principal, workspace, operation }, input) => {
    const { title, body, head, base, draft, task_id: taskId } = input;
    const answer = ({ pullRequest: one, created }: CreatedPullRequest) => ({
      number: one.number,
      ...(one.url !== undefined && { url: one.url }),
      title: one.title,
      state: one.state,
      draft: one.draft,
      head: one.head,
      headSha: one.headSha,
      base: one.base,
      createdAt: one.createdAt.toISOString(),
      created,
      ...(taskId !== undefined && { taskId }),
    });
    const outcome = await services.pullRequests.create(
      {
        principal,
        workspace,
        at: repositoryName(input.owner, input.repo),
        pullRequest: {
          title,
          head,
          base,
          draft,
          maintainerCanModify: input.maintainer_can_modify,
          ...(body !== undefined && { body }),
        },
        ...(taskId !== undefined && { taskId }),
      },
      (created) => operation.settle(answer(created)),
    );
    return answer(outcome);
  },
});
