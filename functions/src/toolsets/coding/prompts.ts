import { type Prompt, promptsFor } from '../../mcp/prompt.ts';
import { textUpTo } from '../../mcp/tool.ts';
import { CODING_TOOLS } from '../coordination/index.ts';
import type { CodingServices } from './create.ts';
import texts from './prompts.json' with { type: 'json' };
import { branchNames } from './resources.ts';

const args = {
  description: textUpTo(20_000).describe('What the coding agent must do'),
  tool: textUpTo(100).optional().describe('Name of the coding tool; default: one that a runner has'),
  branch: textUpTo(250).optional().describe('Branch for the work; default: a new one'),
};

export const prompts: readonly Prompt<CodingServices>[] = [
  promptsFor<CodingServices>()('delegate', texts.delegate, args, {
    tool: async () => CODING_TOOLS,
    branch: branchNames,
  }),
];
