/** Button that opens a dialog for the goal of the workspace. A new goal archives the session of the old one. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { newGoal as text } from '../../../text/needsYou.ts';
import { act } from '../../calls/tools.ts';
import { DialogButton } from '../../parts/DialogButton.tsx';
import { TextField } from '../../parts/TextField.tsx';

interface NewGoalProps {
  readonly kind?: 'primary' | 'plain';
  /** The present goal, if there is one. */
  readonly goal?: string | undefined;
}

const response = z.object({ archived_session: z.exactOptional(z.object({})) });

export function NewGoal({ kind, goal }: NewGoalProps) {
  const words = useSignal('');
  const plan = useSignal('');
  const title = goal === undefined ? text.set : text.change;
  return (
    <DialogButton
      title={title}
      icon="flag"
      kind={kind}
      action={{
        label: title,
        disabled: words.value.trim() === '',
        done: text.done,
        act: async () => {
          const more = plan.value.trim() === '' ? {} : { master_plan: plan.value.trim() };
          await act('coordination.init_coordination', { goal: words.value.trim(), ...more }, response);
          words.value = '';
          plan.value = '';
        },
      }}>
      {goal !== undefined && <p class="hint">{text.archives}</p>}
      <TextField label={text.goal} hint={text.goalHint} of={words} isLong />
      <TextField label={text.plan} hint={text.planHint} of={plan} isLong />
    </DialogButton>
  );
}
