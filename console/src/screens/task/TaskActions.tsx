/** Actions on a task: the likely one as a button, rare and dangerous ones in a menu. The tools check permissions. */
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { needsYou } from '../../../text/needsYou.ts';
import { proof } from '../../../text/proof.ts';
import { task as text } from '../../../text/task.ts';
import { fill, plural } from '../../../ui/format.ts';
import { Entry, Menu } from '../../../ui/Menu.tsx';
import { act } from '../../calls/tools.ts';
import type { Task } from '../../live/documents.ts';
import { ActionButton, ActionEntry } from '../../parts/acting.tsx';
import { CopyLink } from '../../parts/Copy.tsx';
import { MessageButton } from '../../parts/Message.tsx';
import { isClosed, isVerifying, titleOf } from '../../parts/taskState.ts';
import { useName } from '../../parts/Who.tsx';
import { WhyEntry } from '../../parts/WhyEntry.tsx';
import { addressOf } from '../../router.ts';
import { mayAs } from '../../shell/role.ts';

const DONE = z.object({});

export function TaskActions({ task }: { readonly task: Task }) {
  const { claimed_by: holder, dependents, priority, status } = task;
  const title = titleOf(task).slice(0, 100);
  const { name } = useName(holder ?? '');
  const call = (method: string, args: Readonly<Record<string, unknown>> = {}) =>
    act(`coordination.${method}`, { task_id: task.id, ...args }, DONE);
  const withReason = (reason: string) => (reason === '' ? {} : { reason });
  const isEnded = ['failed', 'cancelled'].includes(status);
  const mayWork = mayAs('worker');
  const sendBack = {
    icon: 'undo',
    label: proof.sendBack,
    confirm: {
      title: fill(proof.sendBackTitle, { title }),
      text: proof.sendBackHint,
      keep: common.cancel,
      reason: proof.whatToChange,
      isReasonRequired: true,
    },
    act: (comments: string) => call('retry_task', { comments }),
  } as const;
  const consequence = [
    holder === null ? undefined : fill(text.toldToStop, { agent: name }),
    dependents.length === 0 ? undefined : plural(dependents.length, text.neededWontStart),
    text.retryLater,
  ];
  return (
    <>
      {!isClosed(task) && holder !== null && mayWork && <MessageButton agentId={holder} taskId={task.id} />}
      {isEnded && mayWork && (
        <ActionButton kind="primary" icon="retry" label={needsYou.retry} act={() => call('retry_task')} />
      )}
      {isVerifying(task) && mayWork && <ActionButton {...sendBack} />}
      <Menu label={common.moreActions}>
        {isVerifying(task) && mayWork && (
          <ActionEntry
            icon="check"
            label={proof.acceptAsIs}
            confirm={{ title: fill(proof.acceptTitle, { title }), text: proof.acceptHint, keep: common.cancel }}
            act={() => call('update_task', { clear: ['acceptance'] })}
          />
        )}
        {status === 'done' && mayWork && <ActionEntry {...sendBack} />}
        {isEnded && dependents.length > 0 && mayWork && (
          <ActionEntry
            icon="retry"
            label={plural(dependents.length, needsYou.retryAll)}
            act={() => call('retry_task', { with_dependents: true })}
          />
        )}
        {!isClosed(task) && mayWork && (
          <>
            <ActionEntry
              icon="up"
              label={text.raise}
              disabled={priority <= 1}
              act={() => call('update_task', { priority: priority - 1 })}
            />
            <ActionEntry
              icon="fall"
              label={text.lower}
              disabled={priority >= 10}
              act={() => call('update_task', { priority: priority + 1 })}
            />
          </>
        )}
        <WhyEntry question={{ task: task.id }} />
        <Entry icon="audit" label={common.viewHistory} href={addressOf(['audit'], { thing: `task:${task.id}` })} />
        <CopyLink />
        {!isClosed(task) && mayWork && (
          <>
            <hr />
            {holder !== null && (
              <ActionEntry
                icon="release"
                label={text.release}
                confirm={{
                  title: fill(text.releaseTitle, { title }),
                  text: fill(text.releaseHint, { agent: name }),
                  keep: text.keep,
                  reason: text.reason,
                }}
                act={(reason) => call('release_task', withReason(reason))}
              />
            )}
            <ActionEntry
              icon="stop"
              kind="danger"
              label={text.cancel}
              confirm={{
                title: fill(text.cancelTitle, { title }),
                text: consequence.filter((one) => one !== undefined).join(' '),
                keep: text.keep,
                reason: text.reason,
              }}
              act={(reason) => call('cancel_task', withReason(reason))}
            />
          </>
        )}
      </Menu>
    </>
  );
}
