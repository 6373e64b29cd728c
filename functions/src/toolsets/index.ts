import type { Toolset } from '../mcp/tool.ts';
import { coordination } from './coordination/index.ts';
import { onboarding } from './onboarding/index.ts';

/** Every toolset, in the order in which they are listed. */
export const toolsets: readonly Toolset[] = [onboarding, coordination];
