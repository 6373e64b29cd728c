/** Sends a message to an agent, which reads it with its next call. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../calls/tools.ts';
import { ActionButton } from './ActionButton.tsx';
import { clearSent } from './formState.ts';

interface MessageFormProps {
  readonly agentId: string;
  readonly taskId?: string;
}

export function MessageForm({ agentId, taskId }: MessageFormProps) {
  const message = useSignal('');
  const isSent = useSignal(false);
  return (
    <div class="write">
      <label>
        Write to {agentId}
        <input
          value={message.value}
          onInput={(event) => {
            message.value = event.currentTarget.value;
            isSent.value = false;
          }}
        />
      </label>
      <ActionButton
        label="Send"
        disabled={message.value.trim() === ''}
        act={async () => {
          const about = taskId === undefined ? {} : { task_id: taskId };
          const sent = message.value;
          const args = { agent_id: agentId, message: sent.trim(), ...about };
          await act('coordination.message_agent', args, z.object({}));
          clearSent(sent, message, '');
          isSent.value = true;
        }}
      />
      <p role="status" class="soft">
        {isSent.value ? 'Sent. It is read with the agent’s next call.' : ''}
      </p>
    </div>
  );
}
