/** Dialog that creates a workspace, and opens it. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { newWorkspace as text } from '../../text/shell.ts';
import { fill } from '../../ui/format.ts';
import { act } from '../calls/tools.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { SelectField } from '../parts/Select.tsx';
import { TextField } from '../parts/TextField.tsx';
import { go, inWorkspace } from '../router.ts';
import { isMakingWorkspace } from './makingWorkspace.ts';
import { fetchMemberships } from './memberships.ts';

/** Form of a workspace's name. Source: functions/src/access/rules/workspace.ts. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function NewWorkspaceDialog() {
  const name = useSignal(isMakingWorkspace.peek() ?? '');
  const access = useSignal('private');
  const isPossible = NAME.test(name.value);
  return (
    <Dialog
      title={text.title}
      action={{
        label: text.create,
        disabled: !isPossible,
        done: fill(text.created, { name: name.value }),
        act: async () => {
          await act('access.create_workspace', { name: name.value, access: access.value }, z.object({}));
          await fetchMemberships();
          go(inWorkspace(name.value));
        },
      }}
      closed={() => (isMakingWorkspace.value = undefined)}>
      <TextField
        label={text.name}
        hint={text.nameHint}
        error={name.value === '' || isPossible ? '' : text.badName}
        of={name}
      />
      <SelectField
        label={text.access}
        of={access}
        options={[
          ['private', text.private],
          ['open', text.open],
        ]}
      />
    </Dialog>
  );
}
