import type { Toolset } from '../mcp/tool.ts';
import type { AccessServices } from './access/create.ts';
import { access } from './access/index.ts';
import type { CodingServices } from './coding/create.ts';
import { coding } from './coding/index.ts';
import type { CoordinationServices } from './coordination/create.ts';
import { coordination } from './coordination/index.ts';
import type { FirebaseServices } from './firebase/create.ts';
import { firebase } from './firebase/index.ts';
import type { GitHubServices } from './github/create.ts';
import { github } from './github/index.ts';
import type { InboxServices } from './inbox/create.ts';
import { inbox } from './inbox/index.ts';
import type { OnboardingServices } from './onboarding/create.ts';
import { onboarding } from './onboarding/index.ts';
import type { OrchestrationServices } from './orchestration/create.ts';
import { orchestration } from './orchestration/index.ts';
import type { SystemServices } from './system/create.ts';
import { system } from './system/index.ts';
import type { TodoServices } from './todo/create.ts';
import { todo } from './todo/index.ts';

/** Services of all tools. */
type ToolServices = AccessServices &
  CodingServices &
  CoordinationServices &
  FirebaseServices &
  GitHubServices &
  InboxServices &
  OnboardingServices &
  OrchestrationServices &
  SystemServices &
  TodoServices;

/** Every toolset, in listing order. */
export const toolsets: readonly Toolset<ToolServices>[] = [
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
