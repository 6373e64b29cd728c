import type { Principal } from '../../../identity/rules/principal.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import type { Task } from './task.ts';

/** A change of a task that is undone. */
export interface UndoneEffect {
  readonly effect: AuditEffect;
  readonly found: Versioned<Task>;
  /** State of the task before the change, except for the fields that an undo never restores. */
  readonly former: Task;
  readonly by: Principal;
  readonly now: Date;
}
