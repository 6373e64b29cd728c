/** What commits of coordination may change. */

import type { AccessChange } from '../../../access/rules/changes.ts';
import type { GraphChange } from '../../../graph/rules/changes.ts';
import type { ChangeOf } from '../../../kernel/commit.ts';
import type { MessageChanges } from './mailbox.ts';
import type { SessionChanges } from './session.ts';
import type { TaskChanges } from './task.ts';

export type CoordinationChange =
  | ChangeOf<TaskChanges & SessionChanges & MessageChanges>
  | AccessChange
  | GraphChange;
