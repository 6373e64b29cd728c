/** How each change is written, of all features. The compiler refuses it where a kind has no writer. */
import { agentWriters, skillWriters } from '../access/store/agents.ts';
import type { ChangeKinds } from '../kernel/commit.ts';
import type { ChangeWriters } from '../kernel/firestore/commitWrites.ts';
import { codingWriters } from '../toolsets/coding/store/tasks.ts';
import { sessionWriters } from '../toolsets/coordination/store/sessionDocument.ts';
import { taskWriters } from '../toolsets/coordination/store/tasks.ts';
import { subscriptionWriters } from '../toolsets/firebase/store/subscriptions.ts';
import { linkWriters } from '../toolsets/github/store/pullRequests.ts';
import { measureWriters } from '../toolsets/orchestration/store/measures.ts';
import { runWriters } from '../toolsets/orchestration/store/runs.ts';
import { workflowWriters } from '../toolsets/orchestration/store/workflows.ts';
import { reminderWriters } from '../toolsets/todo/store/events.ts';
import { todoWriters } from '../toolsets/todo/store/todos.ts';

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
