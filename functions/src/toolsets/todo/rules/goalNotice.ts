/** Tells a person that all tasks of a goal are closed, with the results of the last ones. */
import { z } from 'zod';
import { personsRoleIn } from '../../../identity/rules/principal.ts';
import { oneLine } from '../../../kernel/hiddenCharacters.ts';
import { skipUnreadable } from '../../../kernel/ports.ts';
import { CODING_GOAL, type CoordinationPorts, isClosed, TASK_STATUSES, type Task } from '../../coordination/index.ts';
import { deliver } from './outbox.ts';
import type { TodoPorts } from './ports.ts';

type GoalPorts = TodoPorts & Pick<CoordinationPorts, 'sessions' | 'tasks'>;

/** The fields of a written task that show whether it was closed. */
const written = z.object({
  id: z.string(),
  status: z.enum(TASK_STATUSES),
  workspace: z.string(),
  session: z.string(),
  owner_uid: z.string(),
});

const OPEN = TASK_STATUSES.filter((status) => !isClosed(status));
const MAX_RESULTS = 5;
const MAX_RESULT_LENGTH = 300;

/**
 * Notifies the owner of the task that was closed last. Calls may be repeated, because the notification's id follows
 * from the session and from the number of closed tasks.
 */
export async function tellIfGoalDone(ports: GoalPorts, before: unknown, after: unknown): Promise<void> {
  const [was, is] = [before, after].map((task) => written.safeParse(task).data);
  if (is === undefined || !isClosed(is.status) || (was !== undefined && isClosed(was.status))) return;
  const { workspace, session: id, owner_uid: uid } = is;
  const { tasks, sessions, roles, consoleLinks, clock } = ports;
  if ((await tasks.list(id, OPEN, { limit: 1 })).items.length > 0) return;
  const session = (await skipUnreadable(sessions.current(workspace)))?.session;
  if (session?.id !== id || ['', CODING_GOAL].includes(session.goal)) return;
  if (personsRoleIn(await roles.of(uid), workspace) === undefined) return;
  const [{ counts }, { items }] = await Promise.all([
    sessions.counters(workspace, id),
    tasks.listDone(id, { limit: MAX_RESULTS }),
  ]);
  const closed = counts.failed + counts.cancelled;
  const others = closed === 0 ? '' : ` ${closed} failed or were cancelled.`;
  await deliver(ports, {
    id: `goal-${id}-${counts.done + closed}`,
    uid,
    about: { session_id: id },
    what: 'Goal done',
    title: oneLine(session.goal).slice(0, 200),
    body: [`All tasks are closed: ${counts.done} done.${others}`, ...items.map(resultLine)].join('\n'),
    link: consoleLinks.to({ kind: 'workspace', workspace }),
    at: clock.now(),
  });
}

function resultLine({ description, result }: Task): string {
  const output = oneLine(result?.output ?? '').slice(0, MAX_RESULT_LENGTH);
  return `- ${oneLine(description.split('\n')[0] ?? '').slice(0, MAX_RESULT_LENGTH)}: ${output}`;
}
