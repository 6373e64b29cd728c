/** Items that wait for the person: the number in the navigation and in the browser's tab, and the entries of the bell. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useClosedTasks, useSessionId, useTroubledTasks } from '../live/coordination.ts';
import { type Request, requestDocument, type Task, type Todo, todoDocument } from '../live/documents.ts';
import { usePaged } from '../live/paged.ts';
import { requestsTo, todosDueBy } from '../live/queries.ts';
import { type Paged, rowsOf } from '../live/states.ts';
import { calm } from '../live/time.ts';
import { troubledTasks } from '../screens/needsYou/troubledTasks.ts';

export interface Waiting {
  readonly requests: Paged<Request>;
  readonly failed: Paged<Task>;
  /** Open tasks that don't continue: out of budget, with a failed check, an expired lease, or without a verdict. */
  readonly troubled: Paged<Task>;
  /** Open to-dos that are due by the end of the day. */
  readonly due: Paged<Todo>;
  readonly overdue: readonly Todo[];
  /** Number of all of them. */
  readonly count: number;
}

/** Number of things that wait for the person, for the title of the browser's tab. */
export const waitingCount = signal(0);

export function useWaiting(uid: string, here: string): Waiting {
  const session = useSessionId(here);
  const where = { here, session: 'value' in session ? session.value : undefined };
  const at = calm.value;
  const endOfDay = new Date(new Date(at).setHours(24, 0, 0, 0));
  const requests = usePaged(requestsTo(uid), requestDocument);
  const failed = useClosedTasks(where, 'failed');
  const troubled = troubledTasks(useTroubledTasks(where), at);
  const due = usePaged(todosDueBy(uid, endOfDay), todoDocument);
  const overdue = rowsOf(due).filter(({ due_date }) => due_date !== null && due_date.getTime() < at);
  const count = lengthOf(requests) + lengthOf(failed) + lengthOf(troubled) + overdue.length;
  useEffect(() => {
    waitingCount.value = count;
  }, [count]);
  return { requests, failed, troubled, due, overdue, count };
}

const lengthOf = <Row>(list: Paged<Row>): number => list.count ?? rowsOf(list).length;
