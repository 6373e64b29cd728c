/** Sends a message to an agent, which reads it with its next call. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { agents as text } from '../../text/agents.ts';
import { fill } from '../../ui/format.ts';
import { act } from '../calls/tools.ts';
import { Dialog } from './Dialog.tsx';
import { type Addressee, addressee } from './dialogs.ts';
import { TextField } from './TextField.tsx';
import { useName } from './Who.tsx';

export function MessageDialog() {
  const to = addressee.value;
  return to === undefined ? null : <Message key={to.agentId} to={to} />;
}

function Message({ to: { agentId, taskId } }: { readonly to: Addressee }) {
  const words = useSignal('');
  const { name: agent } = useName(agentId);
  return (
    <Dialog
      title={fill(text.message, { agent })}
      action={{
        label: text.send,
        disabled: words.value.trim() === '',
        done: fill(text.sent, { agent }),
        act: () => {
          const about = taskId === undefined ? {} : { task_id: taskId };
          const args = { agent_id: agentId, message: words.value.trim(), ...about };
          return act('coordination.message_agent', args, z.object({}));
        },
      }}
      closed={() => (addressee.value = undefined)}>
      <TextField label={text.messageLabel} hint={fill(text.messageHint, { agent })} of={words} isLong />
    </Dialog>
  );
}
