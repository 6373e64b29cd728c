import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import {
  accessArgument,
  repositoriesArgument,
  routingArgument,
  workspaceAnswer,
  workspaceArgument,
  workspaceShape,
} from './shapes.ts';

export const updateWorkspace = defineTool({
  name: 'update_workspace',
  title: 'Change a workspace',
  description:
    'Changes who may come into a workspace, which repositories its members reach, and which hosted agents it asks.',
  details:
    'What is left out stays. Opening one to everybody takes a leader of the deployment. default is always open.',
  audience: 'those who administer',
  input: z.strictObject({
    workspace: workspaceArgument,
    access: accessArgument.optional().describe('Who comes in'),
    repositories: repositoriesArgument.optional().describe('All of them: replaces the list'),
    routing: routingArgument.optional().describe('Who is asked: pin and forbid replace what was set'),
  }),
  output: workspaceShape,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  role: 'leader',
  scope: 'owner',
  example: { repositories: ['sartor-ai/*'] },
  answer: workspaceAnswer,
  handler: ({ services, principal, workspace: here, recordAnswer }, { workspace = here, ...update }) =>
    services.access.workspaces.update(principal, workspace, update, recordAnswer),
});
