/** The tools that create and update workspaces. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import type { ListedToolInfo } from '../../../mcp/callContext.ts';
import { writing } from '../../../mcp/tool.ts';
import type { UpdatedWorkspace } from '../rules/workspaceChanges.ts';
import * as shapes from './accessResponses.ts';

export const createWorkspace = shapes.defineTool({
  name: 'create_workspace',
  title: 'Create a workspace',
  description: "Creates a workspace led by the caller's owner. For leaders and deployment admins.",
  details:
    'private: members only. open: everyone with a deployment role has that role here. After the call, messages/<name> and shared/<name> in both databases belong to the workspace.',
  input: z.strictObject({
    name: shapes.workspaceName.describe('1 to 64 letters, digits, "-" or "_"'),
    access: shapes.accessArgument.default('private').describe('Who may enter'),
    repositories: shapes.repositoriesArgument.default([]).describe('GitHub repositories'),
  }),
  output: shapes.workspaceShape,
  ...writing('leader', { destructiveHint: false, idempotentHint: false }, ['repositories']),
  scope: 'owner',
  example: { name: 'apollo', repositories: ['sartor-ai/muster'] },
  response: shapes.workspaceResponse,
  handler: ({ services, principal, recordResponse }, { name, access, repositories }) =>
    services.access.workspaces.create(principal, { name, access, repositories }, recordResponse),
});

/** @throws MusterError VALIDATION_ERROR if a tool is unknown, or if its calls cannot require approval */
function requireApprovable(tools: readonly ListedToolInfo[], approvals: readonly { readonly tool: string }[]): void {
  const known = tools.filter(({ approvable }) => approvable).map(({ fullName }) => fullName);
  const index = approvals.findIndex(({ tool }) => !known.includes(tool));
  if (index === -1) return;
  throw new MusterError('VALIDATION_ERROR', `Calls of "${approvals[index]?.tool}" cannot require approval.`, {
    field: `approvals.${index}.tool`,
    reason: 'NOT_APPROVABLE',
    suggestion: 'Use one of the tools listed in entries.',
    entries: known,
  });
}

export const updateWorkspace = shapes.defineTool({
  name: 'update_workspace',
  title: 'Update a workspace',
  description:
    'Changes a workspace: who may enter, which repositories and hosted agents it uses, and which calls need approval.',
  details:
    "Omitted fields stay unchanged. Opening a workspace requires a leader of the deployment. The workspace `default` is always open. A call that needs approval waits in the inbox of the person in asks, or of the calling agent's owner, and runs after the approval. With above_usd, only calls that may cost more, or have no maximum cost, need approval. Takes effect within 5 seconds. An agent can make settings stricter. If it loosens one, a person approves the call first.",
  input: z.strictObject({
    workspace: shapes.workspaceArgument,
    access: shapes.accessArgument.optional().describe('Who may enter'),
    repositories: shapes.repositoriesArgument.optional().describe('Replaces the list'),
    routing: shapes.routingArgument.optional().describe('Agents: pin and forbid replace previous values'),
    approvals: shapes.approvalsArgument.optional().describe('Replaces the list'),
    proof: shapes.proofArgument.optional().describe('When tasks are done; replaces what was set'),
  }),
  output: shapes.workspaceShape.extend({ message: z.string().optional() }),
  ...writing('leader', { destructiveHint: true, idempotentHint: true }, [
    'approvals',
    'proof',
    'access',
    'repositories',
    'routing',
  ]),
  scope: 'owner',
  example: { repositories: ['sartor-ai/*'] },
  response: ({ isChanged, ...settings }: UpdatedWorkspace) => ({
    ...shapes.workspaceResponse(settings),
    message: isChanged ? undefined : 'Nothing was changed: the workspace already has these settings.',
  }),
  handler: async (
    { services, directory, principal, workspace: here, recordResponse },
    { workspace = here, approvals, proof, ...rest },
  ) => {
    requireApprovable(directory.tools, approvals ?? []);
    const rules = approvals?.map(({ tool, above_usd, asks }) => ({
      tool,
      ...(above_usd !== undefined && { above_usd }),
      ...(asks !== undefined && { asks }),
    }));
    const defaults = proof?.defaults.map(({ command, review, confirm, type }) => ({
      ...(command !== undefined && { command }),
      ...(review !== undefined && { review }),
      ...(confirm !== undefined && { confirm }),
      ...(type !== undefined && { type }),
    }));
    const update = { ...rest, approvals: rules, ...(proof && { proof: { ...proof, defaults: defaults ?? [] } }) };
    return services.access.workspaces.update(principal, workspace, update, recordResponse);
  },
});
