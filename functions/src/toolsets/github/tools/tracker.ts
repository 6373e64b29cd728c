/** Tools that create pull requests and issues. Source: the network specification. */
import { z } from 'zod';
import { partOf } from '../../../graph/rules/linking.ts';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import { idOf } from '../../../kernel/ids.ts';
import { repositoryName } from '../rules/names.ts';
import { requireReachable } from '../rules/reach.ts';
import { type CreatedPullRequest, openIssue, openPullRequest } from '../rules/tracker.ts';
import { adding, defineTool, inRepository } from './gitHubResponses.ts';

export const createPR = defineTool({
  name: 'createPR',
  title: 'Create a pull request',
  description:
    'Creates a pull request or returns the open one for the same branches. With task_id, merging it completes that task.',
  details:
    'An open PR is returned unchanged, with created: false. With task_id, failed checks are logged under tasks/<task_id>/logs.',
  rare: ['maintainer_can_modify'],
  input: z.strictObject({
    ...inRepository,
    title: z.string().min(1).max(256).refine(isVisible, 'expected some text').describe('PR title'),
    body: z.string().optional().describe('Description, in Markdown'),
    head: z.string().describe('Branch with changes'),
    base: z.string().describe('Target branch'),
    draft: z.boolean().default(false).describe('As a draft'),
    maintainer_can_modify: z.boolean().default(true).describe('Maintainers may push'),
    task_id: idOf('a task').optional().describe('Task in the queue'),
    part_of: partOf.describe('Parent item, without task_id'),
  }),
  output: z.object({
    number: z.int(),
    url: z.string().optional().describe('Web page.'),
    title: z.string(),
    state: z.string(),
    draft: z.boolean(),
    head: z.string(),
    headSha: z.string(),
    base: z.string(),
    createdAt: z.iso.datetime(),
    created: z.boolean().describe('False if it already existed.'),
    taskId: z.string().optional(),
    id: z.string().optional().describe('For part_of and system.getTree, if the PR is part of an item.'),
  }),
  ...adding(),
  example: {
    owner: 'sartor-ai',
    repo: 'claude-network',
    title: 'End retries after three attempts',
    head: 'fix/retries',
    base: 'main',
  },
  response: (outcome: CreatedPullRequest, { task_id }) => ({
    ...outcome,
    ...(task_id !== undefined && { taskId: task_id }),
  }),
  handler: async (context, { owner, repo, task_id, part_of, ...pullRequest }) => {
    const { services, principal, workspace, recordResponse } = context;
    const at = await requireReachable(services.gitHub, context, repositoryName(owner, repo));
    const request = { principal, workspace, at, pullRequest, taskId: task_id, part_of };
    return openPullRequest(services.gitHub, request, recordResponse);
  },
});

export const createIssue = defineTool({
  name: 'createIssue',
  title: 'Create an issue',
  description: 'Creates an issue.',
  details:
    "A hidden comment marks the issue, so that it can be found if GitHub's response is lost; with idempotency_key, a retry never creates a second issue.",
  rare: ['assignees', 'milestone'],
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
    url: z.string().optional().describe('Web page.'),
    title: z.string(),
    state: z.string(),
    labels: z.array(z.string()),
    assignees: z.array(z.string()).describe('GitHub drops users who cannot be assigned.'),
    createdAt: z.iso.datetime(),
    created: z.boolean().describe('False if an earlier attempt of this call created it.'),
  }),
  ...adding(),
  example: {
    owner: 'sartor-ai',
    repo: 'claude-network',
    title: 'Retries never end',
    body: 'Seen in `src/retry.ts`.',
    labels: ['bug'],
  },
  handler: async (context, { owner, repo, ...fields }) => {
    const { services, operation, recordResponse } = context;
    const at = await requireReachable(services.gitHub, context, repositoryName(owner, repo));
    return openIssue(services.gitHub, at, fields, { operation, recordResponse: recordResponse });
  },
});
