/** One to-do: a circle that completes it, its title, and a menu of its actions. */
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { todos as text } from '../../../text/todos.ts';
import { fill, timeOfDay } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { Entry, Menu } from '../../../ui/Menu.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { undoLatest } from '../../calls/undoing.ts';
import type { Todo } from '../../live/documents.ts';
import { isOffline } from '../../live/sources.ts';
import { now } from '../../live/time.ts';
import { ActionEntry, tell, tellError } from '../../parts/acting.tsx';
import { Near } from '../../parts/Near.tsx';
import { agoText } from '../../parts/Time.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import { tomorrow } from './days.ts';
import { reschedule } from './reschedule.ts';

const DONE = z.object({});

interface TodoRowProps {
  readonly todo: Todo;
  readonly isLate: boolean;
}

export function TodoRow({ todo, isLate }: TodoRowProps) {
  const { id, title, due_date: due, delegated_task_id: delegated } = todo;
  const call = (method: string) => act(`todo.${method}`, { task_id: id }, DONE);
  const complete = () =>
    void call('complete_task').then(() => tell(fill(text.done, { title }), () => call('reopen_task')), tellError);
  return (
    <Near
      class="row"
      draggable={!isOffline.value}
      onDragStart={(event) => event.dataTransfer?.setData('text/plain', id)}>
      <button
        type="button"
        class="circle"
        aria-label={fill(text.markDoneOf, { title })}
        title={text.markDone}
        disabled={isOffline.value}
        onClick={complete}>
        <Icon of="is-ready" />
      </button>
      <div class="grow">
        <p class="line">
          <a href={addressOf([PAGES.todo, id])}>
            <b>
              <UserText text={title} limit={200} />
            </b>
          </a>
          {todo.priority === 'HIGH' && <span class="tag bad">{text.priorities.HIGH}</span>}
          {todo.priority === 'LOW' && <span class="tag">{text.priorities.LOW}</span>}
          {todo.recurring_task_id !== null && (
            <span class="tag">
              <Icon of="repeat" small />
              {text.repeats}
            </span>
          )}
          {[...new Set(todo.tags)].map((tag) => (
            <span key={tag} class="tag">
              <UserText text={tag} limit={40} />
            </span>
          ))}
        </p>
        {todo.description !== null && (
          <p class="soft">
            <UserText text={todo.description} links limit={200} />
          </p>
        )}
        {delegated !== null && (
          <p class="meta">
            <a class="named" href={addressOf([PAGES.task, delegated])}>
              <Icon of="agent" small />
              {text.assigned}
            </a>
          </p>
        )}
      </div>
      {due !== null && (
        <span class={`nowrap num ${isLate ? 'bad' : 'soft'}`}>{isLate ? agoText(due, now.value) : timeOfDay(due)}</span>
      )}
      <Menu label={fill(common.actionsFor, { title: title.slice(0, 100) })} button="b quiet only small">
        {delegated === null && (
          <ActionEntry icon="agent" label={text.assign} done={text.assigned} act={() => call('delegate')} />
        )}
        <Entry
          icon="calendar"
          label={text.toTomorrow}
          disabled={isOffline.value}
          choose={() => void reschedule(todo, tomorrow(new Date(now.value)))}
        />
        {due !== null && (
          <Entry
            icon="minus"
            label={text.noDate}
            disabled={isOffline.value}
            choose={() => void reschedule(todo, undefined)}
          />
        )}
        <Entry icon="bell" label={text.remind} href={addressOf([PAGES.todo, id])} />
        <Entry icon="settings" label={text.edit} href={addressOf([PAGES.todo, id])} />
        <hr />
        <ActionEntry
          icon="trash"
          kind="danger"
          label={text.delete}
          done={fill(text.deleted, { title })}
          undo={() => undoLatest(`todo:${id}`)}
          act={() => call('delete_task')}
        />
      </Menu>
    </Near>
  );
}
