import type { Toolset } from '../mcp/tool.ts';
import { access } from './access/index.ts';
import { coding } from './coding/index.ts';
import { coordination } from './coordination/index.ts';
import { firebase } from './firebase/index.ts';
import { github } from './github/index.ts';
import { inbox } from './inbox/index.ts';
import { onboarding } from './onboarding/index.ts';
import { orchestration } from './orchestration/index.ts';
import { system } from './system/index.ts';
import { todo } from './todo/index.ts';

/** Every toolset, in the order in which they are listed. */
export const toolsets: readonly Toolset[] = [
  onboarding,
  access,
  system,
  firebase,
  github,
  coordination,
  todo,
  orchestration,
  coding,
  inbox,
];
