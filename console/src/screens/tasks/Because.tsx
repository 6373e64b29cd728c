/** Why a task is in its state, in a few words. */
import type { ComponentChildren } from 'preact';
import { steps } from '../../../text/common.ts';
import { tasks as text } from '../../../text/tasks.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { duration, fill, plural } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import type { Task } from '../../live/documents.ts';
import { now } from '../../live/time.ts';
import { QuestionLink, useIsAsked } from '../../parts/QuestionLink.tsx';
import { agoText } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { isVerifying, stateOf } from '../../parts/taskState.ts';
import { causeOf } from '../needsYou/causes.ts';

export function Because({ task }: { readonly task: Task }) {
  const { waiting_for: waiting } = task;
  const isAsked = useIsAsked(waiting?.request_id);
  if (waiting !== null && isAsked) return <QuestionLink id={waiting.request_id} words={text.answerIt} />;
  const state = waiting === null ? stateOf(task) : 'waiting';
  const isPutOff = ['available', 'blocked'].includes(state) && task.retry_at !== null;
  const reason = isPutOff ? (task.files_wait === null ? 'retry' : 'files') : state;
  const words = (REASONS[reason] ?? ended)(task);
  return words === undefined ? null : <span class="soft">{words}</span>;
}

type Words = ComponentChildren;

/** Words for each state; those of the other states say when the task ended. */
const REASONS: Readonly<Record<string, (task: Task) => Words>> = {
  never(task) {
    const cause = causeOf(task);
    return cause && <Fill text={text.causeFailed} with={{ title: <TaskTitle id={cause} limit={60} /> }} />;
  },
  waiting: ({ waiting_for: waiting }) =>
    waiting && (
      <Fill
        text={text.waitsFor}
        with={{
          name: <UserText text={waiting.who} limit={60} />,
          time: duration(Math.max(0, waiting.until.getTime() - now.value)),
        }}
      />
    ),
  verifying(task) {
    if (!isVerifying(task)) return undefined;
    const { step, round } = task.proof;
    const name = steps[step] ?? step;
    return round === 1 ? name : fill(text.step, { step: name, round, n: task.acceptance?.rounds ?? round });
  },
  files: ({ files_wait: other }) =>
    other && <Fill text={text.files} with={{ title: <TaskTitle id={other} limit={60} /> }} />,
  retry: ({ retry_at }) => retry_at && fill(text.retries, { when: agoText(retry_at, now.value) }),
  blocked({ dependencies: [first, ...more], blockers }) {
    if (first === undefined || more.length > 0) return plural(blockers, text.needsMany);
    return <Fill text={text.needs} with={{ title: <TaskTitle id={first} limit={60} /> }} />;
  },
  available: ({ required_capabilities: needed }) =>
    needed.length === 0 ? text.anyAgent : fill(text.needsSkill, { capability: needed.join(', ') }),
  failed: (task) => (task.error === null ? ended(task) : <UserText text={task.error} limit={80} />),
  claimed: working,
  in_progress: working,
};

function working({ coding, started_at }: Task): Words {
  const progress = coding?.progress;
  if (progress != null) return <UserText text={progress} limit={80} />;
  return started_at === null ? undefined : fill(text.started, { when: agoText(started_at, now.value) });
}

function ended({ completed_at: at }: Task): Words {
  return at === null ? undefined : agoText(at, now.value);
}
