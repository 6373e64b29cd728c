/** Button that opens a dialog for a new task: what to do, after what, by whom, until when. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { newTask as text } from '../../../text/tasks.ts';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import type { Task } from '../../live/documents.ts';
import { ActionButton, tell } from '../../parts/acting.tsx';
import { Field } from '../../parts/Field.tsx';
import { titleOf } from '../../parts/taskState.ts';
import { addressOf, go } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';

const PROGRAMS = ['CLAUDECODE', 'GEMINI'] as const;
type Doer = 'agent' | (typeof PROGRAMS)[number];

const madeTask = z.object({ task: z.object({ id: z.string() }) });
const madeCodingTask = z.object({ data: z.object({ taskId: z.string() }) });

interface NewTaskProps {
  /** Open tasks, of which the new one can need some. */
  readonly tasks: readonly Task[];
  readonly kind?: 'primary' | 'plain';
}

export function NewTask({ tasks, kind = 'plain' }: NewTaskProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useSignal('');
  const instructions = useSignal('');
  const needs = useSignal<readonly string[]>([]);
  const doer = useSignal<Doer>('agent');
  const capabilities = useSignal('');
  const project = useSignal('');
  const deadline = useSignal('');
  const priority = useSignal(5);

  async function create() {
    const words = title.value.trim();
    const details = instructions.value.trim();
    const common = { priority: priority.value, dependencies: needs.value };
    const id =
      doer.value === 'agent'
        ? (
            await act(
              'coordination.create_task',
              {
                ...common,
                description: details === '' ? words : `${words}\n${details}`,
                required_capabilities: listIn(capabilities.value),
                ...(deadline.value !== '' && { deadline: new Date(deadline.value).toISOString() }),
              },
              madeTask,
            )
          ).task.id
        : (
            await act(
              'coding.create_task',
              {
                ...common,
                tool: doer.value,
                description: words,
                instructions: details === '' ? words : details,
                ...(project.value.trim() !== '' && { config: { project: project.value.trim() } }),
              },
              madeCodingTask,
            )
          ).data.taskId;
    dialog.current?.close();
    for (const field of [title, instructions, capabilities, project, deadline]) field.value = '';
    needs.value = [];
    tell(fill(text.done, { title: words }));
    go(addressOf([PAGES.task, id]));
  }

  return (
    <>
      <button
        type="button"
        class={`b ${kind === 'primary' ? 'primary' : ''}`}
        onClick={() => dialog.current?.showModal()}>
        <Icon of="plus" />
        {text.title}
      </button>
      <dialog ref={dialog} class="dialog" aria-label={text.title}>
        <div class="stack">
          <h2>{text.title}</h2>
          <Field label={text.what}>
            {(field) => (
              <input
                {...field}
                value={title.value}
                autocomplete="off"
                onInput={(event) => (title.value = event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={text.instructions} hint={text.instructionsHint}>
            {(field) => (
              <textarea
                {...field}
                value={instructions.value}
                onInput={(event) => (instructions.value = event.currentTarget.value)}
              />
            )}
          </Field>
          <div class="two">
            <Field label={text.doer}>
              {(field) => (
                <select
                  {...field}
                  value={doer.value}
                  onChange={({ currentTarget: { value } }) =>
                    (doer.value = PROGRAMS.find((one) => one === value) ?? 'agent')
                  }>
                  <option value="agent">{text.doers.agent}</option>
                  {PROGRAMS.map((program) => (
                    <option key={program} value={program}>
                      {text.doers[program]}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field label={text.priority}>
              {(field) => (
                <select
                  {...field}
                  value={priority.value}
                  onChange={(event) => (priority.value = Number(event.currentTarget.value))}>
                  {Array.from({ length: 10 }, (_none, index) => (
                    <option key={index} value={index + 1}>
                      {`P${index + 1}`}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </div>
          {doer.value === 'agent' ? (
            <div class="two">
              <Field label={text.capabilities} hint={text.capabilitiesHint}>
                {(field) => (
                  <input
                    {...field}
                    value={capabilities.value}
                    onInput={(event) => (capabilities.value = event.currentTarget.value)}
                  />
                )}
              </Field>
              <Field label={text.deadline}>
                {(field) => (
                  <input
                    {...field}
                    type="datetime-local"
                    value={deadline.value}
                    onInput={(event) => (deadline.value = event.currentTarget.value)}
                  />
                )}
              </Field>
            </div>
          ) : (
            <Field label={text.project} hint={text.projectHint}>
              {(field) => (
                <input
                  {...field}
                  value={project.value}
                  onInput={(event) => (project.value = event.currentTarget.value)}
                />
              )}
            </Field>
          )}
          {tasks.length > 0 && (
            <fieldset class="field">
              <legend class="label">{text.needs}</legend>
              <ul class="choices">
                {tasks.map((task) => (
                  <li key={task.id}>
                    <label class="check">
                      <input
                        type="checkbox"
                        checked={needs.value.includes(task.id)}
                        onChange={() => (needs.value = toggled(needs.value, task.id))}
                      />
                      <UserText text={titleOf(task)} limit={100} />
                    </label>
                  </li>
                ))}
              </ul>
              <p class="hint">{text.needsHint}</p>
            </fieldset>
          )}
          <p class="acts end">
            <button type="button" class="b" onClick={() => dialog.current?.close()}>
              {common.cancel}
            </button>
            <ActionButton kind="primary" label={text.create} disabled={title.value.trim() === ''} act={create} />
          </p>
        </div>
      </dialog>
    </>
  );
}

const toggled = (all: readonly string[], one: string): readonly string[] =>
  all.includes(one) ? all.filter((other) => other !== one) : [...all, one];

function listIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
