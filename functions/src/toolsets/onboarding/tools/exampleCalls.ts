import { z } from 'zod';
import type { Directory } from '../../../mcp/callContext.ts';
import { toolsFor } from '../../../mcp/tool.ts';
import type { OnboardingServices } from '../create.ts';
import type { ProposedCall } from '../rules/welcome.ts';

export const defineTool = toolsFor<OnboardingServices>();

/** How calls are written in answers: the tool's name, a space, and its arguments as JSON. */
export const callText = z
  .string()
  .describe('A call ready to be made: the name of the tool, a space, and its arguments as JSON.');

/** Under the name that the caller's endpoint takes, or the full one where it does not serve the tool. */
export function writtenCall(directory: Directory, { tool, args }: ProposedCall): string {
  return `${directory.wireName(tool) ?? tool} ${JSON.stringify(args)}`;
}
