/** Interactive list of the to-dos that list_tasks returned. A checkbox completes or reopens a to-do. */
import type { ComponentChildren } from 'preact';
import { todos as todoTexts } from '../text/todos.ts';
import { todosView as text } from '../text/views.ts';
import { fill, number, plural } from '../ui/format.ts';
import { Icon } from '../ui/Icon.tsx';
import { State, stateName } from '../ui/State.tsx';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './shared/host.ts';
import { Facts, MAX_ROWS, Section, Words } from './shared/parts.tsx';
import { startView, type ViewActions } from './shared/view.tsx';

function delegated(todo: Fields): readonly ComponentChildren[] {
  const { status, done, things } = fieldsOf(todo['delegated']);
  const state = textOf(status);
  if (state === '') return [];
  return [
    <span key="assigned" class="named">
      <Icon of="agent" small />
      {todoTexts.assigned}
    </span>,
    <State key="state" of={state} />,
    numberOf(things) > 1 && fill(text.parts, { done: numberOf(done), n: numberOf(things) }),
  ];
}

function due({ due_date, completed }: Fields, person: ViewActions): ComponentChildren {
  const time = person.time(due_date);
  if (time === '') return undefined;
  if (completed === true || Date.parse(textOf(due_date)) >= Date.now()) return fill(text.due, { time });
  return <span class="bad">{fill(text.overdue, { time })}</span>;
}

interface CircleProps {
  readonly id: string;
  readonly title: string;
  readonly isDone: boolean;
  readonly person: ViewActions;
}

/** A press does not change the checkbox. The view draws the state that the tool returns. */
function Circle({ id, title, isDone, person }: CircleProps) {
  const toggle = () => {
    if (isDone) person.act('reopen_task', { task_id: id }, `reopened the to-do ${id}`);
    else person.act('complete_task', { task_id: id }, `completed the to-do ${id}`);
  };
  const icon = <Icon of={isDone ? 'is-done' : 'is-ready'} />;
  if (!person.mayAct) {
    return (
      <span class={isDone ? 'circle good' : 'circle'}>
        {icon}
        <span class="away">{stateName(isDone ? 'done' : 'open')}</span>
      </span>
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a native checkbox would show the press before the tool has returned.
    <button
      type="button"
      role="checkbox"
      aria-checked={isDone}
      aria-label={fill(text.mark, { title: title.slice(0, 100) })}
      aria-disabled={person.isBusy}
      class={isDone ? 'circle good' : 'circle'}
      onClick={toggle}>
      {icon}
    </button>
  );
}

function row(todo: Fields, person: ViewActions) {
  const id = textOf(todo['id']);
  const title = textOf(todo['title']);
  const isDone = todo['completed'] === true;
  const tags = Array.isArray(todo['tags']) ? [...new Set(todo['tags'].map(String))] : [];
  return (
    <li key={id} class="row top-line">
      <Circle id={id} title={title} isDone={isDone} person={person} />
      <div class="grow">
        <p class="line">
          {isDone ? (
            <s class="soft">
              <Words text={title} />
            </s>
          ) : (
            <b>
              <Words text={title} />
            </b>
          )}
          {/^(HIGH|URGENT)$/i.test(textOf(todo['priority'])) && (
            <span class="tag bad">{todoTexts.priorities.HIGH}</span>
          )}
          {tags.map((tag) => (
            <span key={tag} class="tag">
              <Words text={tag} max={40} />
            </span>
          ))}
        </p>
        <Facts of={[due(todo, person), ...delegated(todo)]} />
      </div>
    </li>
  );
}

/** Returns whether agents may still change the to-do, so that the view must be refreshed. */
function isUnderWay(todo: Fields): boolean {
  const { status } = fieldsOf(todo['delegated']);
  return todo['completed'] !== true && ['open', 'in_progress', 'waiting'].includes(textOf(status));
}

startView({
  toolset: 'todo',
  tool: 'list_tasks',
  isOpen: ({ tasks }) => listOf(tasks).some(isUnderWay),
  draw: ({ tasks, total }, person) => {
    const todos = listOf(tasks);
    const open = todos.filter(({ completed }) => completed !== true).length;
    const shown = Math.min(todos.length, MAX_ROWS);
    const known = Math.max(todos.length, numberOf(total));
    return (
      <>
        <header class="line">
          <h1>{text.title}</h1>
          <span class="hint">
            {todos.length === 0
              ? text.none
              : `${plural(open, text.open)} ${fill(text.listed, { n: number(todos.length) })}`}
          </span>
        </header>
        <Section rows={todos.slice(0, shown).map((todo) => row(todo, person))} more={known - shown} />
      </>
    );
  },
});
