/** Arguments of several github tools. Source: the network specification, "GitHub Tools". */
import { z } from 'zod';
import { toolsFor } from '../../../mcp/tool.ts';
import type { GitHubServices } from '../create.ts';
import { OWNER_PATTERN, REPO_PATTERN } from '../rules/names.ts';

export const defineTool = toolsFor<GitHubServices>();

export const inRepository = {
  owner: z.string().describe('Repository owner'),
  repo: z.string().describe('Repository name'),
};

/** Arguments for a repository. Their patterns are only shown to callers; rules/names.ts validates the values. */
export const inPatternedRepository = {
  owner: z.string().meta({ pattern: OWNER_PATTERN, description: 'User or organization' }),
  repo: z.string().meta({ pattern: REPO_PATTERN, description: 'Repository name' }),
};

/** Properties of tools that read from GitHub. */
export const reading = {
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  role: 'worker',
} as const;

/** Returns the properties of tools that create something. This counts as destructive, because others may see it. */
export const adding = ({ idempotentHint } = { idempotentHint: false }) => ({
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint, openWorldHint: true },
  loosens: [],
  role: 'worker' as const,
  approvable: true as const,
});
