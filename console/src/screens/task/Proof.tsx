/** Proof of a task's result: the steps that it must pass, and the corrections that were requested. */
import type { ComponentChildren } from 'preact';
import { common, steps as names } from '../../../text/common.ts';
import { proof as text } from '../../../text/proof.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type Task, taskDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { task as taskQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { Section } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { isClosed, isVerifying } from '../../parts/taskState.ts';
import { Name } from '../../parts/Who.tsx';
import { VerifyingSentence } from './VerifyingSentence.tsx';

export function Proof({ task }: { readonly task: Task }) {
  const { acceptance, proven, sent_back: corrections } = task;
  if (acceptance === null && proven.length === 0 && corrections.length === 0) return null;
  const round = isVerifying(task) ? task.proof.round : 1;
  return (
    <Section
      title={text.title}
      isCard
      actions={
        round > 1 && (
          <span class="tag">{fill(text.round, { round, n: Math.max(round, acceptance?.rounds ?? round) })}</span>
        )
      }>
      <ol class="rows">
        {stepsOf(task).map((step) => (
          <StepRow key={step} step={step} task={task} />
        ))}
        {[...corrections].reverse().map((correction) => (
          <CorrectionRow key={correction.digest} of={correction} />
        ))}
      </ol>
    </Section>
  );
}

/** The required steps in their order, and other steps: the current one, and those by which the result was proven. */
function stepsOf(task: Task): readonly string[] {
  const { command, review, confirm } = task.acceptance ?? {};
  const required = [command && 'command', review && 'review', confirm && 'person'];
  const others = [isVerifying(task) ? task.proof.step : undefined, ...task.proven.map(({ step }) => step)];
  return [...new Set([...required, ...others])].flatMap((step) => step || []);
}

function StepRow({ step, task }: { readonly step: string; readonly task: Task }) {
  const isCurrent = isVerifying(task) && task.proof.step === step;
  const passed = (isVerifying(task) ? task.proof.passed : task.proven).findLast((one) => one.step === step);
  const state = passed !== undefined ? 'done' : isCurrent ? 'verifying' : 'available';
  return (
    <li class="row top-line">
      <State of={state} words="" />
      <div class="grow">
        <p>
          <StepWords step={step} task={task} />
        </p>
        <p class="meta">
          {passed !== undefined ? (
            <>
              <span>
                <Fill text={text.passed} with={{ who: <By id={passed.by} /> }} />
              </span>
              <Ago at={passed.at} />
              {passed.commit !== undefined && <Commit sha={passed.commit} />}
            </>
          ) : isCurrent ? (
            <>
              <VerifyingSentence task={task} />
              {task.proof.commit !== undefined && <Commit sha={task.proof.commit} />}
              {step !== 'person' && task.proof.check !== null && <Check id={task.proof.check} />}
            </>
          ) : (
            <span>{isClosed(task) ? text.notChecked : text.notYet}</span>
          )}
        </p>
      </div>
    </li>
  );
}

function StepWords({ step, task: { acceptance, owner_uid: owner } }: { readonly step: string; readonly task: Task }) {
  const { command, review, confirm } = acceptance ?? {};
  if (step === 'command' && command !== undefined) {
    const shown = (
      <code>
        <UserText text={command} limit={300} />
      </code>
    );
    return <Fill text={text.command} with={{ command: shown }} />;
  }
  if (step === 'review' && review !== undefined) {
    return review === 'any' ? text.anyReview : fill(text.review, { capability: review });
  }
  if (step === 'person' && confirm !== undefined) {
    const who = confirm === 'owner' ? (owner ?? '') : confirm;
    return <Fill text={text.confirm} with={{ who: <Name id={who} /> }} />;
  }
  return <>{names[step] ?? step}</>;
}

/** Names of systems that pass a step. */
const SYSTEMS: Readonly<Record<string, string>> = { muster: 'Muster', github: 'GitHub' };

function By({ id }: { readonly id: string }): ComponentChildren {
  return SYSTEMS[id] ?? <Name id={id} />;
}

function Commit({ sha }: { readonly sha: string }) {
  return (
    <code title={sha}>
      <UserText text={sha.slice(0, 8)} />
    </code>
  );
}

/** Link to the review or command run, with the agent that does it. */
function Check({ id }: { readonly id: string }) {
  const live = useLive(document(taskQuery(id), taskDocument));
  const holder = 'value' in live ? live.value?.claimed_by : undefined;
  return (
    <span>
      <TaskTitle id={id} limit={80} />
      {holder != null && <Fill text={` ${text.claimedBy}`} with={{ agent: <Name id={holder} /> }} />}
    </span>
  );
}

export function CorrectionRow({ of }: { readonly of: Task['sent_back'][number] }) {
  const { round, by, at, step, comments, times } = of;
  return (
    <li class="row top-line">
      <Icon of="undo" class="wait" />
      <div class="grow">
        <p class="meta">
          <b>{fill(text.sentBack, { round })}</b>
          <span>
            <By id={by} />
          </span>
          <span>{names[step] ?? step}</span>
          <Ago at={at} />
          {times > 1 && <span class="tag wait">{fill(text.again, { n: times })}</span>}
        </p>
        <p class="lines">
          <UserText text={comments || common.none} limit={5000} />
        </p>
      </div>
    </li>
  );
}
