/** Button that opens a dialog for the goal of the workspace. A new goal archives the session of the old one. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { newGoal as text } from '../../../text/needsYou.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { act } from '../../calls/tools.ts';
import { ActionButton, tell } from '../../parts/acting.tsx';
import { Field } from '../../parts/Field.tsx';

interface NewGoalProps {
  readonly kind?: 'primary' | 'plain';
  /** The present goal, if there is one. */
  readonly goal?: string | undefined;
}

const response = z.object({ archived_session: z.exactOptional(z.object({})) });

export function NewGoal({ kind = 'plain', goal }: NewGoalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const words = useSignal('');
  const plan = useSignal('');
  const title = goal === undefined ? text.set : text.change;
  return (
    <>
      <button
        type="button"
        class={`b ${kind === 'primary' ? 'primary' : ''}`}
        onClick={() => dialog.current?.showModal()}>
        <Icon of="flag" />
        {title}
      </button>
      <dialog ref={dialog} class="dialog" aria-label={title}>
        <div class="stack">
          <h2>{title}</h2>
          {goal !== undefined && <p class="hint">{text.archives}</p>}
          <Field label={text.goal} hint={text.goalHint}>
            {(field) => (
              <textarea {...field} value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
            )}
          </Field>
          <Field label={text.plan} hint={text.planHint}>
            {(field) => (
              <textarea {...field} value={plan.value} onInput={(event) => (plan.value = event.currentTarget.value)} />
            )}
          </Field>
          <p class="acts end">
            <button type="button" class="b" onClick={() => dialog.current?.close()}>
              {common.cancel}
            </button>
            <ActionButton
              kind="primary"
              label={title}
              disabled={words.value.trim() === ''}
              act={async () => {
                const more = plan.value.trim() === '' ? {} : { master_plan: plan.value.trim() };
                await act('coordination.init_coordination', { goal: words.value.trim(), ...more }, response);
                dialog.current?.close();
                tell(text.done);
                words.value = '';
                plan.value = '';
              }}
            />
          </p>
        </div>
      </dialog>
    </>
  );
}
