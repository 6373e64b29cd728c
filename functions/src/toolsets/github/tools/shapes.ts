/** What the github tools have in common. Source: spec/network.md, "GitHub Tools". */

import { z } from 'zod';
import { OWNER_PATTERN, REPO_PATTERN } from '../rules/names.ts';

/** Listed with its pattern; what does not match is an error of the domain's, which says more. */
export const patternedOwner = z.string().meta({
  pattern: OWNER_PATTERN,
  description: 'Repository owner (user or organization)',
});

export const patternedRepo = z.string().meta({ pattern: REPO_PATTERN, description: 'Repository name' });

export const owner = z.string().describe('Repository owner');

export const repo = z.string().describe('Repository name');

export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

/** Adds to what is there, and finds what is there already. */
export const ADDS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;
