/** The tools that create and change workspaces. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import type { KnownTool } from '../../../mcp/callContext.ts';
import type { UpdatedWorkspace } from '../rules/workspaceChanges.ts';
import {
  accessArgument,
  approvalsArgument,
  defineTool,
  repositoriesArgument,
  routingArgument,
  workspaceAnswer,
  workspaceArgument,
  workspaceName,
  workspaceShape,
} from './accessAnswers.ts';

export const createWorkspace = defineTool({
  name: 'create_workspace',
  title: 'Create a workspace',
  description: "Makes a workspace, which the caller's owner leads. For leaders and admins of the deployment.",
  details:
    "private: its members alone come in. open: everybody whom the deployment gives a role has that role there. messages/<name> and shared/<name> of both databases are the workspace's from then on.",
  audience: 'those who administer',
  input: z.strictObject({
    name: workspaceName.describe('1 to 64 letters, digits, "-" or "_"'),
    access: accessArgument.default('private').describe('Who comes in'),
    repositories: repositoriesArgument.default([]).describe('What it reaches on GitHub'),
  }),
  output: workspaceShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: ['repositories'],
  role: 'leader',
  scope: 'owner',
  example: { name: 'apollo', repositories: ['sartor-ai/muster'] },
  answer: workspaceAnswer,
  handler: ({ services, principal, recordAnswer }, { name, access, repositories }) =>
    services.access.workspaces.create(principal, { name, access, repositories }, recordAnswer),
});

/** @throws MusterError VALIDATION_ERROR for a tool that there is not, or whose calls nobody approves */
function requireApprovable(
  tools: readonly KnownTool[],
  approvals: readonly { readonly tool: string }[],
): void {
  const known = tools.filter(({ approvable }) => approvable).map(({ fullName }) => fullName);
  const index = approvals.findIndex(({ tool }) => !known.includes(tool));
  if (index === -1) return;
  throw new MusterError('VALIDATION_ERROR', `Calls of "${approvals[index]?.tool}" take no approval.`, {
    field: `approvals.${index}.tool`,
    reason: 'NOT_APPROVABLE',
    suggestion: 'Name one of the entries.',
    entries: known,
  });
}

export const updateWorkspace = defineTool({
  name: 'update_workspace',
  title: 'Change a workspace',
  description:
    'Changes who may come into a workspace, which repositories its members reach, which hosted agents it asks, and which calls take an approval.',
  details:
    'What is left out stays. Opening one to everybody takes a leader of the deployment. default is always open. A call that takes an approval waits in the inbox of the person who asks names, or of the owner of the agent that calls, and is made once it is approved; above_usd asks only if a call may spend more; a tool that states no maximum cost is always asked about. Calls are asked about within 5 seconds of the change. An agent may make settings stricter; if its call loosens one, a person approves the call first.',
  audience: 'those who administer',
  input: z.strictObject({
    workspace: workspaceArgument,
    access: accessArgument.optional().describe('Who comes in'),
    repositories: repositoriesArgument.optional().describe('All of them: replaces the list'),
    routing: routingArgument.optional().describe('Who is asked: pin and forbid replace what was set'),
    approvals: approvalsArgument.optional().describe('All of them: replaces the list'),
  }),
  output: workspaceShape.extend({ message: z.string().optional() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: ['approvals', 'access', 'repositories', 'routing'],
  role: 'leader',
  scope: 'owner',
  example: { repositories: ['sartor-ai/*'] },
  answer: ({ isChanged, ...settings }: UpdatedWorkspace) => ({
    ...workspaceAnswer(settings),
    message: isChanged ? undefined : 'Nothing changed: the workspace already has these settings.',
  }),
  handler: async (
    { services, directory, principal, workspace: here, recordAnswer },
    { workspace = here, approvals, ...rest },
  ) => {
    requireApprovable(directory.tools, approvals ?? []);
    const rules = approvals?.map(({ tool, above_usd, asks }) => ({
      tool,
      ...(above_usd !== undefined && { above_usd }),
      ...(asks !== undefined && { asks }),
    }));
    const update = { ...rest, approvals: rules };
    return services.access.workspaces.update(principal, workspace, update, recordAnswer);
  },
});
