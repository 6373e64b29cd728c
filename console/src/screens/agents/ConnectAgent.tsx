/** Button that opens a dialog with the ways to connect an agent: by the address, or with a key that is shown once. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { agents as text } from '../../../text/agents.ts';
import { common } from '../../../text/common.ts';
import { needsYou } from '../../../text/needsYou.ts';
import { fill } from '../../../ui/format.ts';
import { act } from '../../calls/tools.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { CopyButton } from '../../parts/Copy.tsx';
import { DialogButton } from '../../parts/DialogButton.tsx';
import { SelectField } from '../../parts/Select.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { DEFAULT_WORKSPACE, workspace } from '../../router.ts';
import { connection } from '../../session/session.ts';
import { ROLE_OPTIONS } from '../access/roles.ts';

const registered = z.object({
  agentId: z.string(),
  credentials: z.object({ apiKey: z.string(), secret: z.string(), expiresAt: z.string() }),
});
type Registered = z.output<typeof registered>;

/** Form of the names of agents. Source: functions/src/toolsets/onboarding/tools/registerAgent.ts. */
const NAME = /^[\w-]{3,50}$/;

interface ConnectAgentProps {
  /** Called after a key was made. */
  changed?(): void;
}

export function ConnectAgent({ changed }: ConnectAgentProps) {
  const made = useSignal<Registered | undefined>(undefined);
  return (
    <DialogButton title={needsYou.connect} icon="plus" keep={common.close} closed={() => (made.value = undefined)}>
      {made.value === undefined ? (
        <>
          <p class="soft">{text.byAddress}</p>
          <Command text={`claude mcp add --transport http muster ${quoted(addressHere())}`} />
          <KeyForm
            made={(key) => {
              made.value = key;
              changed?.();
            }}
          />
        </>
      ) : (
        <NewKey of={made.value} />
      )}
    </DialogButton>
  );
}

/** A shell would expand the question mark. */
const quoted = (url: string) => (url.includes('?') ? `"${url}"` : url);

function addressHere(): string {
  const { address } = connection().deployment;
  return workspace.value === DEFAULT_WORKSPACE
    ? address
    : `${address}?workspace=${encodeURIComponent(workspace.value)}`;
}

function Command({ text: command }: { readonly text: string }) {
  return (
    <p class="line">
      <code class="block grow">{command}</code>
      <CopyButton text={command} what={text.command} />
    </p>
  );
}

function KeyForm({ made }: { made(key: Registered): void }) {
  const name = useSignal('');
  const role = useSignal('worker');
  const isPossible = NAME.test(name.value);
  return (
    <>
      <p class="soft">{text.byKey}</p>
      <div class="two">
        <TextField label={text.machine} error={name.value === '' || isPossible ? '' : text.badName} of={name} />
        <SelectField label={text.role} of={role} options={ROLE_OPTIONS} />
      </div>
      <p class="acts">
        <ActionButton
          label={text.newKey}
          disabled={!isPossible}
          confirm={{
            title: fill(text.newKeyFor, { name: name.value }),
            text: text.newKeyConsequence,
            keep: common.cancel,
          }}
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
            made(await act('onboarding.registerAgent', args, registered));
          }}
        />
      </p>
    </>
  );
}

/** The only place that shows the key's secret, and only once, so no model sees it. */
function NewKey({ of: { agentId, credentials } }: { readonly of: Registered }) {
  const key = `${credentials.apiKey}.${credentials.secret}`;
  return (
    <div class="stack" role="status">
      <p>{fill(text.keyOf, { agent: agentId, date: credentials.expiresAt.slice(0, 10) })}</p>
      <Command text={key} />
      <p class="soft">{text.keyUse}</p>
      <Command
        text={`claude mcp add --transport http muster ${quoted(addressHere())} --header "Authorization: Bearer <key>"`}
      />
    </div>
  );
}
