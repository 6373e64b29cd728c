/** Blocked work: failed and stuck tasks, expired leases, failed checks and exhausted budgets. */
import { type SessionScope, useClosedTasks, useStuckTasks, useTroubledTasks } from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import { merged } from '../../live/paging.ts';
import type { Paged } from '../../live/states.ts';
import { now } from '../../live/time.ts';
import { headOf, MoreOf } from '../../parts/More.tsx';
import { Card, Shown } from '../../parts/Notice.tsx';
import { Ago, Status } from '../../parts/Status.tsx';
import { blockedReason } from '../../parts/taskState.ts';
import { ExternalLink, UserText } from '../../parts/UserText.tsx';
import { addressOf } from '../../router.ts';
import { troubledTasks } from './troubledTasks.ts';

export function Trouble({ where }: { readonly where: SessionScope }) {
  const at = now.value;
  const failed = useClosedTasks(where, 'failed');
  const stuck = useStuckTasks(where);
  const heldTasks = troubledTasks(useTroubledTasks(where), at);
  const all = merged([failed, stuck, heldTasks]);
  const failures = rowsOf(failed);
  const never = rowsOf(stuck);
  const held = rowsOf(heldTasks);
  return (
    <Card title="Blocked" count={headOf(all)}>
      <Shown live={all.live}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p class="soft">Nothing has failed, and nothing is held up.</p>
          ) : (
            <ul class="plain rows">
              {failures.map((task) => (
                <li key={task.id}>
                  <Status of="failed" /> <TaskLink task={task} />
                  {task.error !== null && (
                    <p class="soft">
                      <UserText text={task.error} limit={300} />
                    </p>
                  )}
                </li>
              ))}
              {never.map((task) => (
                <li key={task.id}>
                  <Status of="never" /> <TaskLink task={task} />
                  <p class="soft">
                    It waits for <Cause id={causeOf(task)} among={failures} />, which has not been done.
                  </p>
                </li>
              ))}
              {held.map((task) => (
                <li key={task.id}>
                  <Status of={blockedReason(task, at) ?? ''} /> <TaskLink task={task} />
                  <Why task={task} at={at} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <MoreOf what="tasks" of={all} />
    </Card>
  );
}

function rowsOf({ live }: Paged<Task>): readonly Task[] {
  return 'value' in live ? live.value.rows : [];
}

function Why({ task, at }: { readonly task: Task; readonly at: number }) {
  const { failed_check: check, lapsed_claims: lapsed } = task;
  const why = blockedReason(task, at);
  if (why === 'budget') return <p class="soft">Out of budget. Raise the limit to continue.</p>;
  if (why === 'red' && check !== null) {
    const number = `${check.repository}#${check.pull_request}`;
    return (
      <p class="soft">
        The check <UserText text={check.name} limit={80} /> failed on{' '}
        {check.url === undefined ? (
          <UserText text={number} />
        ) : (
          <ExternalLink address={check.url}>
            <UserText text={number} />
          </ExternalLink>
        )}
        , <Ago at={check.at} />.
      </p>
    );
  }
  const last = task.claimed_by ?? lapsed.at(-1)?.agent_id ?? '';
  return (
    <p class="soft">
      <a href={addressOf(['a', last])}>
        <UserText text={last} />
      </a>{' '}
      let its lease expire{task.claimed_by === null && ', and no agent has claimed the task since'}.
    </p>
  );
}

/** Shows the title of a listed task. */
function Cause({ id, among }: { readonly id: string; readonly among: readonly Task[] }) {
  const known = among.find((task) => task.id === id);
  return known === undefined ? <a href={addressOf(['t', id])}>{id}</a> : <TaskLink task={known} />;
}

function causeOf({ stuck_by, failed_dependencies: [failed] }: Task): string {
  return stuck_by ?? failed ?? '';
}

function TaskLink({ task }: { readonly task: Task }) {
  return (
    <a href={addressOf(['t', task.id])}>
      <UserText text={task.description.split('\n', 1)[0] ?? ''} limit={140} />
    </a>
  );
}
