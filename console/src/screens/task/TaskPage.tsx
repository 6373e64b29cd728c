/** One task: its state in one sentence, actions, and history. */
import { type Task, taskDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { task as taskQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { DetailPage } from '../../parts/DetailPage.tsx';
import { Card } from '../../parts/Notice.tsx';
import { Ago, Status } from '../../parts/Status.tsx';
import { Tree } from '../../parts/Tree.tsx';
import { stateOf } from '../../parts/taskState.ts';
import { ExternalLink, UserText } from '../../parts/UserText.tsx';
import { addressOf } from '../../router.ts';
import { Holder } from '../tasks/TaskTable.tsx';
import { Attempts } from './Attempts.tsx';
import { CodingResult } from './CodingResult.tsx';
import { Log } from './Log.tsx';
import { TaskActions } from './TaskActions.tsx';

export function TaskPage({ id }: { readonly id: string }) {
  const live = useLive(document(taskQuery(id), taskDocument));
  return (
    <DetailPage list={['tasks', 'Tasks']} kind="task" id={id} live={live}>
      {(task) => <Whole task={task} />}
    </DetailPage>
  );
}

function Whole({ task }: { readonly task: Task }) {
  const [first = '', ...rest] = task.description.split('\n');
  return (
    <>
      <h1>
        <UserText text={first} />
      </h1>
      <p class="sentence">
        <Status of={stateOf(task)} /> <Sentence task={task} />
      </p>
      {rest.length > 0 && (
        <pre class="text">
          <UserText text={rest.join('\n')} links />
        </pre>
      )}
      <TaskActions task={task} />
      <p>
        <a href={addressOf(['audit'], { thing: `task:${task.id}` })}>Who has done what to it</a>
      </p>
      <Links task={task} />
      {task.coding !== null && <Log task={task} />}
      {task.coding !== null && task.coding.result !== null && <CodingResult task={task} />}
      <Result task={task} />
      <Tree kind="task" id={task.id} version={`${task.status} ${task.claim_epoch}`} />
      <Attempts task={task} />
    </>
  );
}

function Sentence({ task }: { readonly task: Task }) {
  const cause = task.stuck_by ?? task.failed_dependencies[0];
  if (stateOf(task) === 'never' && cause !== undefined) {
    return (
      <>
        It will never start: <a href={addressOf(['t', cause])}>{cause}</a> has not been done.
      </>
    );
  }
  if (task.waiting_for !== null) {
    return (
      <>
        It waits for an answer of <UserText text={task.waiting_for.who} />, at most <Ago at={task.waiting_for.until} />.
      </>
    );
  }
  if (task.claimed_by !== null && task.completed_at === null) {
    return (
      <>
        <Holder task={task} id={task.claimed_by} />
        {task.claimed_at !== null && (
          <>
            , claimed <Ago at={task.claimed_at} />
          </>
        )}
        {task.coding?.progress != null && (
          <>
            : <UserText text={task.coding.progress} />
          </>
        )}
      </>
    );
  }
  if (task.retry_at !== null) {
    return (
      <>
        Retries <Ago at={task.retry_at} />.
      </>
    );
  }
  if (task.completed_at !== null) {
    return (
      <>
        <Ago at={task.completed_at} />
        {task.claimed_by !== null && (
          <>
            {' by '}
            <a href={addressOf(['a', task.claimed_by])}>
              <UserText text={task.claimed_by} />
            </a>
          </>
        )}
        {task.error !== null && (
          <>
            : <UserText text={task.error} limit={500} />
          </>
        )}
      </>
    );
  }
  if (task.blockers > 0) return <>It starts when {task.blockers} other tasks are done.</>;
  return (
    <>
      Not claimed yet.{' '}
      {task.required_capabilities.length > 0 && (
        <>
          It takes an agent with <UserText text={task.required_capabilities.join(', ')} />.
        </>
      )}
    </>
  );
}

function Links({ task }: { readonly task: Task }) {
  return (
    <dl class="facts">
      <dt>Priority</dt>
      <dd>{task.priority} of 10</dd>
      <dt>Created</dt>
      <dd>
        <Ago at={task.created_at} /> by <UserText text={task.created_by} />
      </dd>
      {task.deadline !== undefined && (
        <>
          <dt>Deadline</dt>
          <dd>
            <Ago at={task.deadline} />
          </dd>
        </>
      )}
      <Others title="Waits for" ids={task.dependencies} />
      <Others title="Others wait for it" ids={task.dependents} />
      {task.spent !== null && (
        <>
          <dt>Has taken</dt>
          <dd>{`${task.spent.input_tokens + task.spent.output_tokens} tokens, $${task.spent.cost_usd.toFixed(2)}`}</dd>
        </>
      )}
      {task.coding !== null && (
        <>
          <dt>Branch</dt>
          <dd>
            <code>
              <UserText text={task.coding.branch} />
            </code>
            {task.coding.project !== null && /^[\w.-]+\/[\w.-]+$/.test(task.coding.project) && (
              <>
                {' '}
                <ExternalLink
                  address={`https://github.com/${task.coding.project}/tree/${encodeURIComponent(task.coding.branch)}`}
                >
                  <UserText text={task.coding.project} />
                </ExternalLink>
              </>
            )}
          </dd>
        </>
      )}
    </dl>
  );
}

function Others({ title, ids }: { readonly title: string; readonly ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {ids.map((id) => (
          <span key={id}>
            <a href={addressOf(['t', id])}>
              <UserText text={id} />
            </a>{' '}
          </span>
        ))}
      </dd>
    </>
  );
}

function Result({ task }: { readonly task: Task }) {
  const { result, late_result: late } = task;
  if (result === null && late === null) return null;
  return (
    <Card title="Result">
      {result !== null && (
        <pre class="text">
          <UserText text={result.output} links />
        </pre>
      )}
      {[...new Set([...(result?.files_created ?? []), ...(result?.files_modified ?? [])])].map((file) => (
        <p key={file}>
          <code>
            <UserText text={file} />
          </code>
        </p>
      ))}
      {late !== null && (
        <p class="notice">
          <UserText text={late.agent_id} /> reported after another had claimed the task, <Ago at={late.received_at} />:{' '}
          <UserText text={late.result?.output ?? late.error ?? ''} />
        </p>
      )}
    </Card>
  );
}
