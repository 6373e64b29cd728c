import { TOOLSETS } from '../identity/rules/principal.ts';
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

const all = { onboarding, access, system, firebase, github, coordination, todo, orchestration, coding, inbox };

/** Services of all tools. */
type ToolServices = [(typeof all)[keyof typeof all]] extends [Toolset<infer Services>] ? Services : never;
const byName: Readonly<Record<(typeof TOOLSETS)[number], Toolset<ToolServices>>> = all;

/** Every toolset, in listing order. */
export const toolsets = TOOLSETS.map((name) => byName[name]);
