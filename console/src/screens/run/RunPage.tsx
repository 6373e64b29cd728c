/** One run: a sentence on how it stands, its timeline, its result with the compared answers, and the cost. */
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { runs as text } from '../../../text/runs.ts';
import { shell } from '../../../text/shell.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { costOf, duration, fill, withLocalTimes } from '../../../ui/format.ts';
import { Entry, Menu } from '../../../ui/Menu.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act, callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import { useLive } from '../../live/live.ts';
import { run as runQuery } from '../../live/queries.ts';
import { type Run, runDocument } from '../../live/runDocument.ts';
import { document } from '../../live/sources.ts';
import { now } from '../../live/time.ts';
import { ActionEntry } from '../../parts/acting.tsx';
import { Bones } from '../../parts/Bones.tsx';
import { CopyButton, CopyLink } from '../../parts/Copy.tsx';
import { Section, Shown } from '../../parts/Notice.tsx';
import { DetailPage } from '../../parts/Page.tsx';
import { At } from '../../parts/Time.tsx';
import { Tree } from '../../parts/Tree.tsx';
import { Name } from '../../parts/Who.tsx';
import { WhyEntry } from '../../parts/WhyEntry.tsx';
import { addressOf } from '../../router.ts';
import { workflowName } from '../runs/Runs.tsx';
import { RaiseLimit } from '../task/RaiseLimit.tsx';
import { Answers } from './Answers.tsx';
import { type RunResponse, runResponse } from './response.ts';
import { Timeline } from './Timeline.tsx';
import { winnerOf } from './winner.ts';

export function RunPage({ id }: { readonly id: string }) {
  const live = useLive(document(runQuery(id), runDocument));
  return (
    <DetailPage
      list={['runs', shell.runs]}
      kind={text.run}
      live={live}
      titleOf={({ title }) => title}
      actions={(run) => <Actions run={run} />}>
      {(run) => <Whole run={run} />}
    </DetailPage>
  );
}

function Actions({ run }: { readonly run: Run }) {
  const isOpen = run.ended_at === null;
  return (
    <Menu label={common.moreActions}>
      <WhyEntry question={{ run: run.id }} />
      <Entry icon="audit" label={common.viewHistory} href={addressOf(['audit'], { thing: `run:${run.id}` })} />
      <CopyLink />
      {isOpen && (
        <>
          <hr />
          <ActionEntry
            icon="stop"
            kind="danger"
            label={text.cancel}
            disabled={run.cancel_requested}
            confirm={{ title: text.cancelTitle, text: text.cancelHint, keep: text.keep }}
            act={() => act('orchestration.cancel_run', { runId: run.id }, z.object({}))}
          />
        </>
      )}
    </Menu>
  );
}

function Whole({ run }: { readonly run: Run }) {
  // The run's document changes with each step. Steps are reloaded only then.
  const version = [run.status, run.steps_settled, ...run.current].join(' ');
  const ask = () => callTool('orchestration.get_run', { runId: run.id }, runResponse);
  const { live } = useResponse(run.id, ask, version);
  const answer = 'value' in live ? live.value : undefined;
  return (
    <>
      <div class="intro">
        <h1>
          <UserText text={run.title} limit={300} />
        </h1>
        <p class="sentence">
          <State of={run.budget_wait === null ? run.status : 'budget'} pill />
          <span>
            <Sentence run={run} answer={answer} />
          </span>
          {run.budget_wait !== null && <RaiseLimit budgetKey={run.budget_wait.key} />}
        </p>
      </div>
      <Shown live={live} what={text.run.toLowerCase()} bones={<Bones lines={6} />}>
        {(loaded) => <Timeline answer={loaded} start={run.created_at} end={run.ended_at ?? new Date(now.value)} />}
      </Shown>
      <div class="split">
        <div>
          {answer?.result !== undefined && <Result text={answer.result} winner={winnerOf(answer)} />}
          {answer !== undefined && <Answers answer={answer} />}
        </div>
        <aside class="aside" aria-label={common.properties}>
          <Section title={common.properties}>
            <dl class="facts">
              <dt>{text.workflow}</dt>
              <dd>
                <UserText text={workflowName(run.workflow)} />
              </dd>
              <dt>{text.started}</dt>
              <dd>
                <span>
                  <At at={run.created_at} /> <Name id={run.started_by} />
                </span>
              </dd>
              <dt>{text.id}</dt>
              <dd>
                <code class="faint cut" title={run.id}>
                  {run.id}
                </code>
                <CopyButton text={run.id} what={text.id} />
              </dd>
            </dl>
          </Section>
          <Tree kind="run" id={run.id} version={run.status} />
          {answer?.selection !== undefined && answer.selection.reasons.length > 0 && (
            <Section title={text.whyModels}>
              <ul class="stack soft">
                {[...new Set(answer.selection.reasons)].map((reason) => (
                  <li key={reason}>
                    <UserText text={reason} />
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </aside>
      </div>
    </>
  );
}

interface SentenceProps {
  readonly run: Run;
  readonly answer: RunResponse | undefined;
}

function Sentence({ run, answer }: SentenceProps) {
  const cost = costOf(run.spent.cost_usd, run.spent.unpriced_tokens);
  const time = duration((run.ended_at?.getTime() ?? now.value) - run.created_at.getTime());
  if (run.failure !== null) {
    const step = answer?.steps.find(({ error }) => error !== undefined)?.name ?? text.run;
    return (
      <Fill
        text={text.failed}
        with={{
          step: <UserText text={step} />,
          message: <UserText text={withLocalTimes(run.failure.message)} limit={500} />,
        }}
      />
    );
  }
  if (run.ended_at === null) {
    if (run.budget_wait !== null) return <>{fill(text.outOfBudget, { cost })}</>;
    const step = run.current.join(', ');
    const planned = Math.max(run.steps_planned, run.steps_settled);
    const number = Math.min(run.steps_settled + 1, planned);
    return <>{fill(step === '' ? text.waiting : text.running, { number, n: planned, step, cost })}</>;
  }
  if (run.status === 'cancelled') return <>{fill(text.cancelled, { time, cost })}</>;
  const winner = answer === undefined ? undefined : winnerOf(answer);
  if (winner === undefined || winner.of < 2) return <>{fill(text.succeeded, { time, cost })}</>;
  return <>{fill(text.won, { model: winner.agent, n: winner.of, time, cost })}</>;
}

interface ResultProps {
  readonly text: string;
  readonly winner: ReturnType<typeof winnerOf>;
}

function Result({ text: words, winner }: ResultProps) {
  return (
    <Section
      title={text.result}
      actions={
        <>
          <span class="soft">
            {winner === undefined ? text.generated : fill(text.generatedBy, { model: winner.agent })}
          </span>
          <CopyButton text={words} what={text.result.toLowerCase()} />
        </>
      }>
      <div class="block">
        <UserText text={words} links />
      </div>
    </Section>
  );
}
