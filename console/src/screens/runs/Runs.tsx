/** A person's runs in the workspace, newest first, and a form that starts one. */
import { runs as text } from '../../../text/runs.ts';
import { shell } from '../../../text/shell.ts';
import { costOf, fill, withLocalTimes } from '../../../ui/format.ts';
import { Meter } from '../../../ui/Meter.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { usePaged } from '../../live/paged.ts';
import { runsOf } from '../../live/queries.ts';
import { type Run, runDocument } from '../../live/runDocument.ts';
import { Bones } from '../../parts/Bones.tsx';
import { MoreOf } from '../../parts/More.tsx';
import { Near } from '../../parts/Near.tsx';
import { Empty, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { At } from '../../parts/Time.tsx';
import { addressOf, workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { mayAs } from '../../shell/role.ts';
import { PAGES } from '../../shell/screens.ts';
import { StartRun } from './StartRun.tsx';

export function Runs({ person }: { readonly person: Person }) {
  const runs = usePaged(runsOf(person.uid, workspace.value), runDocument);
  return (
    <Page title={shell.runs}>
      {mayAs('worker') && <StartRun />}
      <Shown live={runs.live} what={shell.runs.toLowerCase()} bones={<Bones lines={6} />}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty icon="run" title={text.none} hint={text.noneHint} />
          ) : (
            <div class="edge-to-edge">
              <table class="list">
                <thead>
                  <tr>
                    <th scope="col">{text.run}</th>
                    <th scope="col">{text.status}</th>
                    <th scope="col">{text.workflow}</th>
                    <th scope="col">{text.steps}</th>
                    <th scope="col" class="right">
                      {text.cost}
                    </th>
                    <th scope="col" class="right">
                      {text.started}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((run) => (
                    <Near as="tr" key={run.id}>
                      <RunRow run={run} />
                    </Near>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Shown>
      <MoreOf what={shell.runs.toLowerCase()} of={runs} />
    </Page>
  );
}

function RunRow({ run }: { readonly run: Run }) {
  const { steps_settled: settled, current } = run;
  const planned = Math.max(run.steps_planned, settled);
  return (
    <>
      <th scope="row" class="title">
        <a href={addressOf([PAGES.run, run.id])}>
          <UserText text={run.title} limit={160} />
        </a>
        {run.failure !== null && (
          <p class="soft">
            <UserText text={withLocalTimes(run.failure.message)} limit={120} />
          </p>
        )}
      </th>
      <td class="nowrap">
        <State of={run.budget_wait === null ? run.status : 'budget'} />
      </td>
      <td class="soft">
        <UserText text={workflowName(run.workflow)} limit={60} />
      </td>
      <td class="soft nowrap num">
        <Meter fine parts={[[run.failure === null ? 'lead' : 'bad', planned === 0 ? 0 : settled / planned]]} />{' '}
        {fill(text.stepsOf, { done: settled, n: planned })}
        {current.length > 0 && ` · ${current.join(', ')}`}
      </td>
      <td class="right num">{costOf(run.spent.cost_usd, run.spent.unpriced_tokens)}</td>
      <td class="right faint nowrap">
        <At at={run.created_at} />
      </td>
    </>
  );
}

export const workflowName = (name: string): string => text.workflows[name] ?? name;
