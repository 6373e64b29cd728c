/** What takes back which change, of all features. */
import { MemberInverse } from '../toolsets/access/rules/undoMembers.ts';
import { WorkspaceAdministration } from '../toolsets/access/rules/workspaceChanges.ts';
import { sessionFields } from '../toolsets/coordination/rules/session.ts';
import { taskFields } from '../toolsets/coordination/rules/task.ts';
import { SessionInverse, TaskInverse } from '../toolsets/coordination/rules/undoTasks.ts';
import { FreeFormTrail } from '../toolsets/firebase/rules/freeForm.ts';
import { WorkflowInverse } from '../toolsets/orchestration/rules/workflows/library.ts';
import { Budgets } from '../toolsets/system/rules/budgets.ts';
import { TodoInverse } from '../toolsets/todo/rules/undoTodos.ts';
import type { composePorts } from './ports.ts';

export function composeInverses(ports: ReturnType<typeof composePorts>) {
  const todos = new TodoInverse(ports);
  const members = new MemberInverse(ports);
  const workflows = new WorkflowInverse(ports);
  const tasks = new TaskInverse({ ...ports, taskFields, sessionFields });
  const sessions = new SessionInverse({ ...ports, taskFields, sessionFields });
  return {
    inverses: {
      task: tasks.task,
      session: sessions.session,
      todo: todos.recurrence,
      recurring_task: todos.recurrence,
      reminder: todos.reminder,
      member: members.member,
      workspace: new WorkspaceAdministration(ports).inverse,
      workflow: workflows.workflow,
      budget: new Budgets(ports).inverse,
      document: new FreeFormTrail(ports).document,
    },
    irrevocable: {
      agent: 'An agent stays registered; access.revoke_connection takes its credentials.',
      connection: 'A secret is shown once and kept nowhere: connect again.',
      discovery: 'Others may have read it: add another one that corrects it.',
      external: 'It is on GitHub, where others may have seen it: take it back there.',
      invitation: 'The mail has been sent; access.remove_member ends what came of it.',
      message: 'The agent may have read it: write to it once more.',
      pull_request: 'It is on GitHub, where others may have seen it: close it there.',
      request: 'A person was told of it; inbox.withdraw ends a question that is open.',
      run: 'Its models have been asked and paid; orchestration.cancel_run ends what still goes on.',
      subscription: 'Its events are gone; firebase.unsubscribe ends one, and firebase.subscribe begins one.',
    },
  };
}
