/** At the side of a task: its properties, some of them edited in place, its lease, cost and relations. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { proof } from '../../../text/proof.ts';
import { task as text } from '../../../text/task.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { duration, fill, localInstant, timeOfDay } from '../../../ui/format.ts';
import { Meter } from '../../../ui/Meter.tsx';
import { PRIORITIES } from '../../../ui/Priority.tsx';
import { State } from '../../../ui/State.tsx';
import { ExternalLink, UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import type { Task } from '../../live/documents.ts';
import { isOffline } from '../../live/sources.ts';
import { ActionSelect } from '../../parts/ActionFields.tsx';
import { tellError } from '../../parts/acting.tsx';
import { CopyButton } from '../../parts/Copy.tsx';
import { useLease } from '../../parts/Lease.tsx';
import { Section } from '../../parts/Notice.tsx';
import { Ago, At } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { Tree } from '../../parts/Tree.tsx';
import { isClosed, isVerifying, stateOf, workerOf } from '../../parts/taskState.ts';
import { Name, Who } from '../../parts/Who.tsx';
import { mayAs } from '../../shell/role.ts';

export function Properties({ task }: { readonly task: Task }) {
  const holder = workerOf(task);
  return (
    <aside class="aside" aria-label={common.properties}>
      <Section title={common.properties}>
        <dl class="facts">
          <dt>{text.state}</dt>
          <dd>
            <State of={stateOf(task)} />
          </dd>
          <dt>{isVerifying(task) ? proof.author : text.assignee}</dt>
          <dd>
            {holder === null ? (
              <span class="faint">{common.unassigned}</span>
            ) : (
              <Who id={holder} hasSign={!isClosed(task)} />
            )}
          </dd>
          {task.reviews !== null && (
            <Fact name={proof.checks}>
              <TaskTitle id={task.reviews.task_id} />
            </Fact>
          )}
          <dt>{text.priority}</dt>
          <dd>
            <PriorityField task={task} />
          </dd>
          <dt>{text.deadline}</dt>
          <dd>
            <DeadlineField task={task} />
          </dd>
          <dt>{text.created}</dt>
          <dd>
            <span>
              <At at={task.created_at} /> {text.by} <Name id={task.created_by} />
            </span>
          </dd>
          {task.required_capabilities.length > 0 && (
            <Fact name={text.needsSkill}>
              {task.required_capabilities.map((one) => (
                <span key={one} class="tag">
                  <UserText text={one} limit={40} />
                </span>
              ))}
            </Fact>
          )}
          {task.coding !== null && <Branch task={task} branch={task.coding.branch} project={task.coding.project} />}
          <Fact name={text.id}>
            <code class="faint cut" title={task.id}>
              {task.id}
            </code>
            <CopyButton text={task.id} what={text.id} />
          </Fact>
        </dl>
      </Section>
      <LeaseSection task={task} />
      <Files task={task} />
      <Tree
        kind="task"
        id={task.id}
        version={`${task.status} ${task.claim_epoch}`}
        needs={task.dependencies}
        neededBy={task.dependents}
      />
    </aside>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

const update = (task: Task, fields: object) =>
  act('coordination.update_task', { task_id: task.id, ...fields }, z.object({}));

function PriorityField({ task }: { readonly task: Task }) {
  if (isClosed(task) || !mayAs('worker')) return <>{`P${task.priority}`}</>;
  return (
    <ActionSelect
      class="input short quiet"
      aria-label={text.priority}
      value={`${task.priority}`}
      options={PRIORITIES}
      act={(priority) => update(task, { priority: Number(priority) })}
    />
  );
}

/** The deadline is sent when the person leaves the field, because a browser reports each part of a date. */
function DeadlineField({ task }: { readonly task: Task }) {
  const stored = localInstant(task.deadline ?? null);
  const typed = useSignal<string | undefined>(undefined);
  if (isClosed(task) || !mayAs('worker')) {
    return task.deadline === undefined ? <span class="faint">{common.none}</span> : <At at={task.deadline} />;
  }
  const save = () => {
    const { value } = typed;
    typed.value = undefined;
    if (value === undefined || value === stored) return;
    void update(task, value === '' ? { clear: ['deadline'] } : { deadline: new Date(value).toISOString() }).catch(
      tellError,
    );
  };
  return (
    <input
      class="input short quiet"
      type="datetime-local"
      aria-label={text.deadline}
      value={typed.value ?? stored}
      disabled={isOffline.value}
      onInput={(event) => (typed.value = event.currentTarget.value)}
      onBlur={save}
      onKeyDown={(event) => event.key === 'Enter' && save()}
    />
  );
}

const REPOSITORY = /^[\w.-]+\/[\w.-]+$/;

interface BranchProps {
  readonly task: Task;
  readonly branch: string;
  readonly project: string | null;
}

function Branch({ branch, project }: BranchProps) {
  return (
    <Fact name={text.branch}>
      <code class="cut" title={branch}>
        <UserText text={branch} />
      </code>
      <CopyButton text={branch} what={text.branchName} />
      {project !== null && REPOSITORY.test(project) && (
        <ExternalLink address={`https://github.com/${project}/tree/${encodeURIComponent(branch)}`}>
          <UserText text={project} />
        </ExternalLink>
      )}
    </Fact>
  );
}

const SHOWN_FILES = 20;

/** Files that the task reserves while an agent holds it, or that it waits for. */
function Files({ task }: { readonly task: Task }) {
  const { context, files_wait: other, files_since: since, files_held: isHeld, file_wait: wait, claimed_by } = task;
  const files = [...context.files];
  if (files.length === 0) return null;
  const words = () => {
    if (isHeld && claimed_by !== null)
      return <Fill text={proof.filesHeld} with={{ agent: <Name id={claimed_by} /> }} />;
    if (isClosed(task) || wait === null) return null;
    if (other === null) return proof.filesFree;
    const title = <TaskTitle id={other} limit={80} />;
    return (
      <Fill
        text={since === null ? proof.filesWaitNow : proof.filesWait}
        with={{ title, when: since && <Ago at={since} /> }}
      />
    );
  };
  return (
    <Section title={proof.files}>
      <p class="hint">{words()}</p>
      <ul>
        {files.slice(0, SHOWN_FILES).map((file) => (
          <li key={file}>
            <code>
              <UserText text={file} limit={200} />
            </code>
          </li>
        ))}
      </ul>
      {files.length > SHOWN_FILES && <p class="faint">{fill(text.more, { n: files.length - SHOWN_FILES })}</p>}
    </Section>
  );
}

const LOW = 0.2;

function LeaseSection({ task }: { readonly task: Task }) {
  const lease = useLease(task);
  if (lease === undefined || task.claimed_by === null) return null;
  const { left, share, end } = lease;
  return (
    <Section title={text.lease}>
      <p class="line">
        <span class={left > 0 ? 'big' : 'big bad'}>
          {left > 0 ? fill(common.left, { time: duration(left) }) : fill(common.expiredAgo, { time: duration(-left) })}
        </span>
        <span class="soft">{fill(text.ofTime, { time: duration((task.lease_seconds ?? 0) * 1000) })}</span>
      </p>
      <Meter parts={[[left <= 0 ? 'bad' : share < LOW ? 'wait' : 'busy', share]]} />
      <p class="hint">{fill(text.leaseHint, { time: timeOfDay(end) })}</p>
    </Section>
  );
}
