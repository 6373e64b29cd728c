/** Button that opens a dialog for a new task: what to do, after what, by whom, until when. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { requirements } from '../../../text/requirements.ts';
import { newTask as text } from '../../../text/tasks.ts';
import { fill } from '../../../ui/format.ts';
import { PRIORITIES } from '../../../ui/Priority.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import type { Task } from '../../live/documents.ts';
import { tell } from '../../parts/acting.tsx';
import { DialogButton } from '../../parts/DialogButton.tsx';
import { RequirementFields, requirementsIn, useRequirements } from '../../parts/Requirements.tsx';
import { SelectField } from '../../parts/Select.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { titleOf } from '../../parts/taskState.ts';
import { addressOf, go } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';

/** Value for a task that any agent can do. The other values are programs of the runner. */
const AGENT = 'agent';
const DOERS = Object.entries(text.doers);
const PROOFS = Object.entries(requirements.choices);

const madeTask = z.object({ task: z.object({ id: z.string() }) });
const madeCodingTask = z.object({ data: z.object({ taskId: z.string() }) });

interface NewTaskProps {
  /** Open tasks, of which the new one can need some. */
  readonly tasks: readonly Task[];
  readonly kind?: 'primary' | 'plain';
}

export function NewTask({ tasks, kind }: NewTaskProps) {
  const title = useSignal('');
  const instructions = useSignal('');
  const needs = useSignal<readonly string[]>([]);
  const doer = useSignal(AGENT);
  const capabilities = useSignal('');
  const project = useSignal('');
  const deadline = useSignal('');
  const priority = useSignal('5');
  const proof = useSignal('default');
  const required = useRequirements();

  const isUnproven = proof.value === 'own' && Object.keys(requirementsIn(required)).length === 0;

  async function create() {
    const words = title.value.trim();
    const details = instructions.value.trim();
    const common = {
      priority: Number(priority.value),
      dependencies: needs.value,
      ...(proof.value === 'none' && { acceptance: {} }),
      ...(proof.value === 'own' && { acceptance: requirementsIn(required) }),
    };
    const id =
      doer.value === AGENT
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
    for (const field of [title, instructions, capabilities, project, deadline, ...Object.values(required)])
      field.value = '';
    proof.value = 'default';
    needs.value = [];
    tell(fill(text.done, { title: words }));
    go(addressOf([PAGES.task, id]));
  }

  return (
    <DialogButton
      title={text.title}
      icon="plus"
      kind={kind}
      action={{ label: text.create, disabled: title.value.trim() === '' || isUnproven, act: create }}>
      <TextField label={text.what} of={title} />
      <TextField label={text.instructions} hint={text.instructionsHint} of={instructions} isLong />
      <div class="two">
        <SelectField label={text.doer} of={doer} options={DOERS} />
        <SelectField label={text.priority} of={priority} options={PRIORITIES} />
      </div>
      {doer.value === AGENT ? (
        <div class="two">
          <TextField label={text.capabilities} hint={text.capabilitiesHint} of={capabilities} />
          <TextField label={text.deadline} type="datetime-local" of={deadline} />
        </div>
      ) : (
        <TextField label={text.project} hint={text.projectHint} of={project} />
      )}
      <SelectField label={requirements.ofTask} hint={requirements.ofTaskHint} of={proof} options={PROOFS} />
      {proof.value === 'own' && <RequirementFields of={required} />}
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
    </DialogButton>
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
