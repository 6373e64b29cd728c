/** A person's runs in the workspace, newest first. */
import { type Run, runDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { runsOf } from '../../live/queries.ts';
import { MoreOf } from '../../parts/More.tsx';
import { Empty, Shown } from '../../parts/Notice.tsx';
import { Ago, Status } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf, workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { StartRun } from './StartRun.tsx';

export function Runs({ person }: { readonly person: Person }) {
  const runs = usePaged(runsOf(person.uid, workspace.value), runDocument);
  return (
    <>
      <h1>Runs</h1>
      <StartRun />
      <Shown live={runs.live}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="No runs here yet.">
              <p>
                Ask here, or have an agent ask with orchestration_orchestrate: “Ask two models which index this query
                needs, and compare.”
              </p>
            </Empty>
          ) : (
            <ul class="plain rows">
              {rows.map((run) => (
                <li key={run.id}>
                  <Status of={run.status} />{' '}
                  <a href={addressOf(['r', run.id])}>
                    <UserText text={run.title} limit={160} />
                  </a>
                  <p class="soft">
                    <UserText text={run.workflow} /> · <Ago at={run.created_at} /> · {progressOf(run)} ·{' '}
                    {`$${run.spent.cost_usd.toFixed(4)}`}
                  </p>
                  {run.failure !== null && (
                    <p class="error">
                      <UserText text={run.failure.message} limit={300} />
                    </p>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <MoreOf what="runs" of={runs} />
    </>
  );
}

export function progressOf({ steps_settled, steps_planned, current }: Run): string {
  const settled = `${steps_settled} of ${Math.max(steps_planned, steps_settled)} steps`;
  return current.length === 0 ? settled : `${settled}, now ${current.join(', ')}`;
}
