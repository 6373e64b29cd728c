/** Finds everything: screens, and the tasks, agents and runs of the workspace. Control K, or Command K, opens it. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { folded } from '../../../functions/src/kernel/words.ts';
import { useOpenTasks, useSessionId } from '../live/coordination.ts';
import { agentDocument, runDocument } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import { agentsOf, runsOf } from '../live/queries.ts';
import { documents } from '../live/sources.ts';
import { Words } from '../parts/Words.tsx';
import { addressOf, go, workspace } from '../router.ts';
import type { Person } from '../session/session.ts';
import { SCREENS } from './screens.ts';

interface Found {
  readonly kind: string;
  readonly title: string;
  readonly address: string;
}

const MOST_SHOWN = 12;

/** An id of a task, or its end, is enough to go there, listed or not. */
const TASK_ID = /^task-[\w-]+$/;

export function Palette({ person, close }: { readonly person: Person; close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const words = useSignal('');
  const chosen = useSignal(0);
  useEffect(() => dialog.current?.showModal(), []);
  const all = useEverything(person);
  const sought = folded(words.value.trim());
  const id = words.value.trim().toLowerCase();
  const byId = TASK_ID.test(id) ? [{ kind: 'task', title: id, address: addressOf(['t', id]) }] : [];
  const found = [...byId, ...all.filter(({ title }) => folded(title).includes(sought))].slice(0, MOST_SHOWN);
  const at = Math.min(chosen.value, found.length - 1);

  function open(one: Found | undefined) {
    if (one === undefined) return;
    dialog.current?.close();
    go(one.address);
  }

  function byKeys(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      chosen.value = Math.max(0, Math.min(found.length - 1, at + step));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      open(found[at]);
    }
  }

  return (
    <dialog class="palette" ref={dialog} aria-label="Find" onClose={close}>
      <label>
        Find a task, an agent, a run or a screen
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={found[at] === undefined ? undefined : `found-${at}`}
          autocomplete="off"
          value={words.value}
          onInput={(event) => {
            words.value = event.currentTarget.value;
            chosen.value = 0;
          }}
          onKeyDown={byKeys}
        />
      </label>
      <div id="found" role="listbox" aria-label="What was found">
        {found.map((one, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys of the list.
          <div
            key={one.address}
            id={`found-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => open(one)}
          >
            <span class="tag">{one.kind}</span> <Words text={one.title} most={100} />
          </div>
        ))}
      </div>
      <p class="soft" role="status">
        {found.length === 0 ? 'Nothing here has these words.' : ''}
      </p>
    </dialog>
  );
}

/** What the workspace's listeners know; they end with the palette. */
function useEverything(person: Person): readonly Found[] {
  const here = workspace.value;
  const session = useSessionId(here);
  const tasks = useOpenTasks(here, 'value' in session ? session.value : undefined);
  const agents = useLive(documents(agentsOf(here), agentDocument));
  const runs = useLive(documents(runsOf(person.uid, here), runDocument));
  return [
    ...SCREENS.map(({ path, title }) => ({
      kind: 'screen',
      title,
      address: addressOf(path === '' ? [] : [path]),
    })),
    ...('value' in tasks ? tasks.value.rows : []).map((task) => ({
      kind: 'task',
      title: `${task.description.split('\n', 1)[0]} · ${task.id}`,
      address: addressOf(['t', task.id]),
    })),
    ...('value' in agents ? agents.value.rows : []).map((agent) => ({
      kind: 'agent',
      title: `${agent.name} · ${agent.id}`,
      address: addressOf(['a', agent.id]),
    })),
    ...('value' in runs ? runs.value.rows : []).map((run) => ({
      kind: 'run',
      title: run.title,
      address: addressOf(['r', run.id]),
    })),
  ];
}
