/** Makes a key for a machine. Only this page shows its secret, and only once, so no model sees it. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { workspace } from '../../router.ts';
import { connection } from '../../session/session.ts';
import { RoleChoice } from '../access/RoleChoice.tsx';

const registered = z.object({
  agentId: z.string(),
  credentials: z.object({ apiKey: z.string(), secret: z.string(), expiresAt: z.string() }),
});

/** Form of the names of agents. Source: functions/src/toolsets/onboarding/tools/registerAgent.ts. */
const NAME = /^[\w-]{3,50}$/;

export function NewKey({ changed }: { changed(): void }) {
  const name = useSignal('');
  const role = useSignal<string>('worker');
  const made = useSignal<z.output<typeof registered> | undefined>(undefined);
  if (made.value !== undefined) {
    const { agentId, credentials } = made.value;
    const key = `${credentials.apiKey}.${credentials.secret}`;
    const url = `${connection().deployment.address}?workspace=${encodeURIComponent(workspace.value)}`;
    return (
      <div class="notice" role="status">
        <p>
          The key of <UserText text={agentId} />, until {credentials.expiresAt.slice(0, 10)}. It is shown only now:
        </p>
        <pre class="text">{key}</pre>
        <p>To connect Claude Code with it:</p>
        <pre class="text">{`claude mcp add --transport http muster "${url}" --header "Authorization: Bearer <key>"`}</pre>
        <button type="button" class="plain" onClick={() => (made.value = undefined)}>
          I have stored it
        </button>
      </div>
    );
  }
  return (
    <div class="write">
      <label>
        Name of a machine
        <input value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
      </label>
      <RoleChoice label="Role" role={role} />
      <ActionButton
        label="New key"
        disabled={!NAME.test(name.value)}
        consequence={`${name.value} gets a key with which it acts for you. If you have an agent of this name, its key stops working.`}
        act={async () => {
          const agentInfo = {
            name: name.value,
            type: role.value === 'leader' ? 'coordinator' : 'developer',
            version: '1.0.0',
          };
          const args = {
            agentInfo,
            capabilities: [{ name: 'general', category: 'general' }],
            role: role.value,
            workspace: workspace.value,
          };
          made.value = await act('onboarding.registerAgent', args, registered);
          changed();
        }}
      />
    </div>
  );
}
