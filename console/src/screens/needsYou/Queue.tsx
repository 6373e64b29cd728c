/** One list of all that waits for the person: questions, approvals, failures with blocked tasks, overdue to-dos. */
import type { ComponentChildren } from 'preact';
import { Fragment } from 'preact';
import { z } from 'zod/mini';
import { needsYou as text } from '../../../text/needsYou.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { duration, fill, plural } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import type { IconName } from '../../../ui/icons.ts';
import { Menu } from '../../../ui/Menu.tsx';
import { ExternalLink, UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { type SessionScope, useStuckTasks } from '../../live/coordination.ts';
import type { Task, Todo } from '../../live/documents.ts';
import { rowsOf } from '../../live/states.ts';
import { now } from '../../live/time.ts';
import { ActionButton, ActionEntry, tell } from '../../parts/acting.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { MessageEntry } from '../../parts/Message.tsx';
import { MoreOf } from '../../parts/More.tsx';
import { Empty, Section, Shown } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { blockedReason, titleOf } from '../../parts/taskState.ts';
import { Name, Who } from '../../parts/Who.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import type { Waiting } from '../../shell/useWaiting.ts';
import { causesOf } from './causes.ts';
import { Question } from './Question.tsx';
import { useRecent } from './recent.ts';

interface QueueProps {
  readonly where: SessionScope;
  readonly waiting: Waiting;
}

export function Queue({ where, waiting: { requests, failed, troubled, due, overdue, count } }: QueueProps) {
  const stuck = useStuckTasks(where);
  const open = useRecent(rowsOf(requests));
  const causes = causesOf(rowsOf(failed), rowsOf(stuck));
  const isEmpty = open.length + causes.length + rowsOf(troubled).length + overdue.length === 0;
  return (
    <Section title={text.waiting} count={count}>
      <Shown live={requests.live} what={text.waiting.toLowerCase()}>
        {() =>
          isEmpty ? (
            <div class="card">
              <Empty icon="check" title={text.caughtUp} hint={text.caughtUpHint} />
            </div>
          ) : (
            <div class="card rows">
              {open.map((request) => (
                <Question key={request.id} request={request} />
              ))}
              {causes.map(({ id, task, heldUp }) => (
                <Failure key={id} id={id} task={task} heldUp={heldUp} />
              ))}
              {rowsOf(troubled).map((task) => (
                <Trouble key={task.id} task={task} />
              ))}
              {overdue.map((todo) => (
                <Overdue key={todo.id} todo={todo} />
              ))}
            </div>
          )
        }
      </Shown>
      <MoreOf what="questions" of={requests} />
      <MoreOf what="failed tasks" of={failed} />
      <MoreOf what="tasks that can’t start" of={stuck} />
      <MoreOf what="tasks that don’t continue" of={troubled} />
      <MoreOf what="to-dos" of={due} />
    </Section>
  );
}

interface ItemProps {
  readonly icon: IconName;
  readonly tone: 'wait' | 'bad' | 'lead' | '';
  readonly head: ComponentChildren;
  readonly title: ComponentChildren;
  readonly acts: ComponentChildren;
  readonly children?: ComponentChildren;
}

function Item({ icon, tone, head, title, acts, children }: ItemProps) {
  return (
    <article class="item one">
      <span class={`tile-i ${tone}`}>
        <Icon of={icon} />
      </span>
      <div class="words">
        <p class="meta">{head}</p>
        <h3>{title}</h3>
        {children}
      </div>
      <div class="acts">{acts}</div>
    </article>
  );
}

const RaiseLimit = lazy(async () => (await import('../task/RaiseLimit.tsx')).RaiseLimit);

const DONE = z.object({});
const SHOWN_HELD_UP = 3;

interface FailureProps {
  readonly id: string;
  /** The failed task; undefined if it is not among the loaded failures, for example because it was cancelled. */
  readonly task: Task | undefined;
  /** Tasks that can't start because of it. */
  readonly heldUp: readonly Task[];
}

function Failure({ id, task, heldUp }: FailureProps) {
  const retry = (withOthers: boolean) => async () => {
    await act('coordination.retry_task', { task_id: id, ...(withOthers && { with_dependents: true }) }, DONE);
    tell(fill(text.retried, { title: task === undefined ? id : titleOf(task) }));
  };
  const agentId = task?.claimed_by;
  return (
    <Item
      icon="warn"
      tone="bad"
      head={
        <>
          <span class="bad">{text.taskFailed}</span>
          {agentId != null && <Who id={agentId} />}
          {task?.completed_at != null && <Ago at={task.completed_at} />}
        </>
      }
      title={<TaskTitle id={id} />}
      acts={
        <div class="pair">
          <ActionButton icon="retry" label={text.retry} act={retry(heldUp.length > 0)} />
          <Menu label={text.moreRetry} button="b" summary={<Icon of="down" small />}>
            <ActionEntry icon="retry" label={text.retryOnly} act={retry(false)} />
            {heldUp.length > 0 && (
              <ActionEntry icon="retry" label={plural(heldUp.length, text.retryAll)} act={retry(true)} />
            )}
            {agentId != null && <MessageEntry agentId={agentId} taskId={id} />}
          </Menu>
        </div>
      }>
      {task?.error != null && (
        <p>
          <UserText text={task.error} limit={300} />
        </p>
      )}
      {heldUp.length > 0 && (
        <p class="meta">
          <span>
            <Fill text={plural(heldUp.length, text.holdsUp)} with={{ titles: <Titles tasks={heldUp} /> }} />
          </span>
        </p>
      )}
    </Item>
  );
}

function Titles({ tasks }: { readonly tasks: readonly Task[] }) {
  const rest = tasks.length - SHOWN_HELD_UP;
  return (
    <>
      {tasks.slice(0, SHOWN_HELD_UP).map((task, index) => (
        <Fragment key={task.id}>
          {index > 0 && ', '}
          <a href={addressOf([PAGES.task, task.id])}>
            <UserText text={titleOf(task)} limit={80} />
          </a>
        </Fragment>
      ))}
      {rest > 0 && ` ${fill(text.andMore, { n: rest })}`}
    </>
  );
}

/** An open task that doesn't continue: out of budget, with a failed check, an expired lease, or without a verdict. */
function Trouble({ task }: { readonly task: Task }) {
  const why = blockedReason(task, now.value);
  const { claimed_by, claimed_at, created_at, failed_check: check, lapsed_claims: lapsed } = task;
  const title = (
    <a href={addressOf([PAGES.task, task.id])}>
      <UserText text={titleOf(task)} limit={140} />
    </a>
  );
  if (why === 'red' && check !== null) {
    return (
      <Item icon="warn" tone="bad" head={<Ago at={check.at} />} title={title} acts={null}>
        <p class="soft">
          <FailedCheck check={check} />
        </p>
      </Item>
    );
  }
  if (why === 'verifying') {
    return (
      <Item icon="is-verifying" tone="" head={<Ago at={task.proof?.since ?? created_at} />} title={title} acts={null}>
        <p class="soft">{text.longVerifying}</p>
      </Item>
    );
  }
  const silent = <Name id={claimed_by ?? lapsed.at(-1)?.agent_id ?? ''} />;
  const isBroke = why === 'budget';
  return (
    <Item
      icon={isBroke ? 'dollar' : 'clock'}
      tone="wait"
      head={<Ago at={claimed_at ?? created_at} />}
      title={title}
      acts={isBroke && <RaiseLimit budgetKey={task.budget_wait ?? ''} />}>
      <p class="soft">
        {isBroke ? (
          text.outOfBudget
        ) : (
          <Fill text={claimed_by === null ? text.silent : text.silentStill} with={{ agent: silent }} />
        )}
      </p>
    </Item>
  );
}

function FailedCheck({
  check: { name, url, repository, pull_request },
}: {
  readonly check: NonNullable<Task['failed_check']>;
}) {
  const pull = <UserText text={`${repository}#${pull_request}`} />;
  const link = url === undefined ? pull : <ExternalLink address={url}>{pull}</ExternalLink>;
  return <Fill text={text.checkFailed} with={{ check: <UserText text={name} limit={80} />, link }} />;
}

function Overdue({ todo }: { readonly todo: Todo }) {
  const call = (method: string) => act(`todo.${method}`, { task_id: todo.id }, DONE);
  return (
    <Item
      icon="calendar"
      tone=""
      head={
        <span class="bad">{fill(text.overdue, { time: duration(now.value - (todo.due_date?.getTime() ?? 0)) })}</span>
      }
      title={
        <a href={addressOf([PAGES.todo, todo.id])}>
          <UserText text={todo.title} limit={140} />
        </a>
      }
      acts={
        <>
          <ActionButton
            icon="check"
            label={text.markDone}
            done={`${text.markDone}: ${todo.title}`}
            act={() => call('complete_task')}
            undo={() => call('reopen_task')}
          />
          {todo.delegated_task_id === null && (
            <ActionButton kind="quiet" label={text.assign} act={() => call('delegate')} />
          )}
        </>
      }
    />
  );
}
