/** State of a task in a sentence. */
import type { ComponentChildren } from 'preact';
import { common } from '../../../text/common.ts';
import { proof } from '../../../text/proof.ts';
import { task as text } from '../../../text/task.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { duration, fill, plural } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import type { Task } from '../../live/documents.ts';
import { now } from '../../live/time.ts';
import { QuestionLink, useIsAsked } from '../../parts/QuestionLink.tsx';
import { agoText } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { isClosed, isVerifying, stateOf } from '../../parts/taskState.ts';
import { Name } from '../../parts/Who.tsx';
import { causeOf } from '../needsYou/causes.ts';
import { VerifyingSentence } from './VerifyingSentence.tsx';

export function Sentence({ task }: { readonly task: Task }) {
  const { waiting_for: waiting, claimed_by: holder, completed_at: end, retry_at } = task;
  const cause = causeOf(task);
  if (stateOf(task) === 'never' && cause !== undefined) {
    return <Fill text={text.cantStart} with={{ title: <TaskTitle id={cause} /> }} />;
  }
  if (isVerifying(task)) {
    const { agent_id: author, since } = task.proof;
    const words = { agent: <Name id={author} />, when: sinceOrUntil(since) };
    return (
      <>
        <Fill text={proof.handedIn} with={words} /> <VerifyingSentence task={task} />
      </>
    );
  }
  if (waiting !== null && !isClosed(task)) return <Waiting waiting={waiting} holder={holder ?? ''} />;
  if (end !== null) return <Ended task={task} end={end} />;
  if (holder !== null) return <Working agentId={holder} progress={task.coding?.progress ?? undefined} />;
  if (task.files_wait !== null && retry_at !== null) {
    return <Fill text={proof.filesWaitNow} with={{ title: <TaskTitle id={task.files_wait} /> }} />;
  }
  return retry_at === null ? <Open task={task} /> : fill(text.retries, { when: sinceOrUntil(retry_at) });
}

const sinceOrUntil = (at: Date): string => agoText(at, now.value);

interface WaitingProps {
  readonly waiting: NonNullable<Task['waiting_for']>;
  readonly holder: string;
}

function Waiting({ waiting: { who, until, request_id }, holder }: WaitingProps): ComponentChildren {
  const time = duration(Math.max(0, until.getTime() - now.value));
  const agent = <Name id={holder} />;
  const name = <UserText text={who} limit={60} />;
  const link = <QuestionLink id={request_id} words={text.answer} />;
  return <Fill text={useIsAsked(request_id) ? text.waitsForYou : text.waits} with={{ agent, name, time, link }} />;
}

function Ended({ task: { claimed_by, error, status }, end }: { readonly task: Task; readonly end: Date }) {
  const when = sinceOrUntil(end);
  const agent = claimed_by === null ? common.someone : <Name id={claimed_by} />;
  if (status === 'done') return <Fill text={text.finished} with={{ agent, when }} />;
  const words = error !== null && <UserText text={error} limit={500} />;
  if (status === 'failed') return <Fill text={text.reported} with={{ agent, when, error: words }} />;
  return (
    <>
      {fill(text.cancelled, { when })} {words}
    </>
  );
}

function Working({ agentId, progress }: { readonly agentId: string; readonly progress: string | undefined }) {
  const agent = <Name id={agentId} />;
  if (progress === undefined) return <Fill text={text.working} with={{ agent }} />;
  return <Fill text={text.workingOn} with={{ agent, progress: <UserText text={progress} limit={300} /> }} />;
}

/** A task without a holder. */
function Open({ task: { blockers, dependencies, required_capabilities: needed } }: { readonly task: Task }) {
  const [first, ...more] = dependencies;
  if (blockers > 0 && first !== undefined && more.length === 0) {
    return <Fill text={text.startsAfter} with={{ title: <TaskTitle id={first} /> }} />;
  }
  if (blockers > 0) return plural(blockers, text.startsAfterMany);
  if (needed.length === 0) return text.readyAny;
  return <Fill text={text.readyFor} with={{ capabilities: <UserText text={needed.join(', ')} /> }} />;
}
