import { z } from 'zod';
import {
  accessArgument,
  defineTool,
  repositoriesArgument,
  workspaceAnswer,
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
