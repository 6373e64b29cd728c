/** Sends a message to an agent, which reads it with its next call. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { agents as text } from '../../text/agents.ts';
import { common } from '../../text/common.ts';
import { fill } from '../../ui/format.ts';
import { act } from '../calls/tools.ts';
import { ActionButton, tell } from './acting.tsx';
import { type Addressee, addressee } from './dialogs.ts';
import { Field } from './Field.tsx';
import { useName } from './Who.tsx';

export function MessageDialog() {
  const to = addressee.value;
  return to === undefined ? null : <Dialog key={to.agentId} to={to} />;
}

function Dialog({ to: { agentId, taskId } }: { readonly to: Addressee }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const words = useSignal('');
  const { name } = useName(agentId);
  useEffect(() => dialog.current?.showModal(), []);
  const title = fill(text.message, { agent: name });
  return (
    <dialog ref={dialog} class="dialog" aria-label={title} onClose={() => (addressee.value = undefined)}>
      <div class="stack">
        <h2>{title}</h2>
        <Field label={text.messageLabel} hint={fill(text.messageHint, { agent: name })}>
          {(field) => (
            <textarea {...field} value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
          )}
        </Field>
        <p class="acts end">
          <button type="button" class="b" onClick={() => dialog.current?.close()}>
            {common.cancel}
          </button>
          <ActionButton
            kind="primary"
            label={text.send}
            disabled={words.value.trim() === ''}
            act={async () => {
              const about = taskId === undefined ? {} : { task_id: taskId };
              const args = { agent_id: agentId, message: words.value.trim(), ...about };
              await act('coordination.message_agent', args, z.object({}));
              dialog.current?.close();
              tell(fill(text.sent, { agent: name }));
            }}
          />
        </p>
      </div>
    </dialog>
  );
}
