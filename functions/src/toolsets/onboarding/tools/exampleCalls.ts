import { z } from 'zod';
import type { Directory } from '../../../mcp/callContext.ts';
import { toolsFor } from '../../../mcp/tool.ts';
import type { OnboardingServices } from '../create.ts';
import type { ProposedCall } from '../rules/welcome.ts';

export const defineTool = toolsFor<OnboardingServices>();

export const callText = z.string().describe("A call to make: the tool's name, a space, and its arguments as JSON.");

/** Writes a call with the tool's name at the caller's endpoint, or with its full name if it is not served there. */
export function writtenCall(directory: Directory, { tool, args }: ProposedCall): string {
  return `${directory.wireName(tool) ?? tool} ${JSON.stringify(args)}`;
}
