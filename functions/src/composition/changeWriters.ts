/** How each change is written, of all features. The compiler refuses it where a kind has no writer. */
import { agentWriters, skillWriters } from '../adapters/firestore/agentChanges.ts';
import { measureWriters } from '../adapters/firestore/agentMeasures.ts';
import { codingWriters } from '../adapters/firestore/codingChanges.ts';
import type { ChangeWriters } from '../adapters/firestore/commitWrites.ts';
import { sessionWriters } from '../adapters/firestore/coordinationChanges.ts';
import { workflowWriters } from '../adapters/firestore/orchestrationChanges.ts';
import { linkWriters } from '../adapters/firestore/pullRequestChanges.ts';
import { runWriters } from '../adapters/firestore/runChanges.ts';
import { reminderWriters } from '../adapters/firestore/spineChanges.ts';
import { subscriptionWriters } from '../adapters/firestore/subscriptionChanges.ts';
import { taskWriters } from '../adapters/firestore/taskChanges.ts';
import { todoWriters } from '../adapters/firestore/todoChanges.ts';
import type { ChangeKinds } from '../domain/store.ts';

export const changeWriters: ChangeWriters<ChangeKinds> = {
  ...agentWriters,
  ...skillWriters,
  ...taskWriters,
  ...sessionWriters,
  ...codingWriters,
  ...linkWriters,
  ...subscriptionWriters,
  ...todoWriters,
  ...reminderWriters,
  ...workflowWriters,
  ...measureWriters,
  ...runWriters,
};
