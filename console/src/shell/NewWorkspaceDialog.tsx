/** Dialog that creates a workspace, and opens it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { common } from '../../text/common.ts';
import { newWorkspace as text } from '../../text/shell.ts';
import { fill } from '../../ui/format.ts';
import { act } from '../calls/tools.ts';
import { isOffline } from '../live/sources.ts';
import { ErrorNotice, tell } from '../parts/acting.tsx';
import { Field } from '../parts/Field.tsx';
import { go, inWorkspace } from '../router.ts';
import { isMakingWorkspace } from './makingWorkspace.ts';
import { fetchMemberships } from './memberships.ts';

/** Form of a workspace's name. Source: functions/src/access/rules/workspace.ts. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function NewWorkspaceDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useSignal(isMakingWorkspace.peek() ?? '');
  const access = useSignal<'private' | 'open'>('private');
  const isBusy = useSignal(false);
  const trouble = useSignal<unknown>(undefined);
  useEffect(() => dialog.current?.showModal(), []);

  async function create() {
    isBusy.value = true;
    trouble.value = undefined;
    try {
      await act('access.create_workspace', { name: name.value, access: access.value }, z.object({}));
      await fetchMemberships();
      dialog.current?.close();
      go(inWorkspace(name.value));
      tell(fill(text.created, { name: name.value }));
    } catch (error) {
      trouble.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <dialog ref={dialog} aria-label={text.title} onClose={() => (isMakingWorkspace.value = undefined)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}>
        <h2>{text.title}</h2>
        <Field
          label={text.name}
          hint={text.nameHint}
          error={name.value === '' || NAME.test(name.value) ? '' : text.badName}>
          {(field) => (
            <input
              {...field}
              value={name.value}
              autocomplete="off"
              onInput={(event) => (name.value = event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={text.access}>
          {(field) => (
            <select
              {...field}
              value={access.value}
              onChange={(event) => (access.value = event.currentTarget.value === 'open' ? 'open' : 'private')}>
              <option value="private">{text.private}</option>
              <option value="open">{text.open}</option>
            </select>
          )}
        </Field>
        {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
        <p class="acts end">
          <button type="button" class="b" onClick={() => dialog.current?.close()}>
            {common.cancel}
          </button>
          <button type="submit" class="b primary" disabled={isBusy.value || isOffline.value || !NAME.test(name.value)}>
            {text.create}
          </button>
        </p>
      </form>
    </dialog>
  );
}
