/** A scenario for each tool that writes. */
import type { Scenario } from '../fixture.ts';
import { access } from './access.ts';
import { coding } from './coding.ts';
import { coordination } from './coordination.ts';
import { inbox } from './inbox.ts';
import { orchestration } from './orchestration.ts';
import { firebase, github, onboarding, system } from './others.ts';
import { todo } from './todo.ts';

export const scenarios: readonly Scenario[] = [
  ...access,
  ...onboarding,
  ...firebase,
  ...github,
  ...system,
  ...coordination,
  ...todo,
  ...orchestration,
  ...coding,
  ...inbox,
];
