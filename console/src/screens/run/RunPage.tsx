/** One run: steps and attempts on a timeline, the winner with reasons, and the cost. */
import { z } from 'zod/mini';
import { act, callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import { type Run, runDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { run as runQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { DetailPage } from '../../parts/DetailPage.tsx';
import { duration } from '../../parts/dates.ts';
import { Card, Shown } from '../../parts/Notice.tsx';
import { Ago, Status } from '../../parts/Status.tsx';
import { Tree } from '../../parts/Tree.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { progressOf } from '../runs/Runs.tsx';
import { runResponse } from './response.ts';
import { Timeline } from './Timeline.tsx';

export function RunPage({ id }: { readonly id: string }) {
  const live = useLive(document(runQuery(id), runDocument));
  return (
    <DetailPage list={['runs', 'Runs']} kind="run" id={id} live={live}>
      {(run) => <Whole run={run} />}
    </DetailPage>
  );
}

function Whole({ run }: { readonly run: Run }) {
  // The run's document changes with each step. Steps are reloaded only then.
  const version = [run.status, run.steps_settled, ...run.current].join(' ');
  const ask = () => callTool('orchestration.get_run', { runId: run.id }, runResponse);
  const { live } = useResponse(run.id, ask, version);
  const isOpen = run.ended_at === null;
  return (
    <>
      <h1>
        <UserText text={run.title} limit={200} />
      </h1>
      <p class="sentence">
        <Status of={run.status} /> <UserText text={run.workflow} />, {progressOf(run)}, begun{' '}
        <Ago at={run.created_at} />
        {run.ended_at !== null && `, took ${duration(run.ended_at.getTime() - run.created_at.getTime())}`}. It has cost{' '}
        {`$${run.spent.cost_usd.toFixed(4)}`} and {(run.spent.input_tokens + run.spent.output_tokens).toLocaleString()}{' '}
        tokens.
      </p>
      {run.failure !== null && (
        <p class="error">
          <UserText text={run.failure.message} />
        </p>
      )}
      {isOpen && (
        <p class="acts">
          <ActionButton
            label="Cancel this run"
            kind="danger"
            disabled={run.cancel_requested}
            consequence="It ends within seconds. What its steps have brought stays, and has to be paid."
            act={() => act('orchestration.cancel_run', { runId: run.id }, z.object({}))}
          />
        </p>
      )}
      <Shown live={live}>
        {(answer) => (
          <>
            <Timeline answer={answer} runStart={run.created_at} />
            {answer.result !== undefined && (
              <Card title="Result">
                <p class="soft">Models wrote this.</p>
                <pre class="text">
                  <UserText text={answer.result} links />
                </pre>
              </Card>
            )}
            <Tree kind="run" id={run.id} version={run.status} />
            {answer.selection !== undefined && answer.selection.reasons.length > 0 && (
              <Card title="Why these agents">
                <ul>
                  {[...new Set(answer.selection.reasons)].map((reason) => (
                    <li key={reason}>
                      <UserText text={reason} />
                    </li>
                  ))}
                </ul>
              </Card>
            )}
          </>
        )}
      </Shown>
    </>
  );
}
