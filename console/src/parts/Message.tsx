/** Ways to the dialog that sends a message to an agent. */
import { agents as text } from '../../text/agents.ts';
import { fill } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import { Entry } from '../../ui/Menu.tsx';
import { type Addressee, addressee } from './dialogs.ts';
import { useName } from './Who.tsx';

/** Button that opens the dialog. */
export function MessageButton(to: Addressee) {
  const { name } = useName(to.agentId);
  return (
    <button type="button" class="b" onClick={() => (addressee.value = to)}>
      <Icon of="message" />
      {fill(text.message, { agent: name })}
    </button>
  );
}

/** Entry of a menu that opens the dialog. */
export function MessageEntry(to: Addressee) {
  const { name } = useName(to.agentId);
  return <Entry icon="message" label={fill(text.message, { agent: name })} choose={() => (addressee.value = to)} />;
}
