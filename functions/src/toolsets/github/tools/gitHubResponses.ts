/** Definitions shared by the github tools. Source: the network specification, "GitHub Tools". */

import { z } from 'zod';
import { toolsFor } from '../../../mcp/tool.ts';
import type { GitHubServices } from '../create.ts';
import { OWNER_PATTERN, REPO_PATTERN } from '../rules/names.ts';

export const defineTool = toolsFor<GitHubServices>();

export const inRepository = {
  owner: z.string().describe('Repository owner'),
  repo: z.string().describe('Repository name'),
};

/** Listed with the patterns. The rules check them and return an error that explains more. */
export const inPatternedRepository = {
  owner: z.string().meta({ pattern: OWNER_PATTERN, description: 'User or organization' }),
  repo: z.string().meta({ pattern: REPO_PATTERN, description: 'Repository name' }),
};

export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true } as const;

/** Hints of tools that only add, or find what exists. Destructive, because others may have seen the result. */
export const ADDS = { ...READS, readOnlyHint: false, destructiveHint: true, idempotentHint: false } as const;
