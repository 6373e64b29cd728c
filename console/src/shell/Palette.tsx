/** Search for screens, tasks, agents and runs of the workspace. Control K or Command K opens the search. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { folded } from '../../../functions/src/kernel/textSearch.ts';
import { useOpenTasks, useSessionId } from '../live/coordination.ts';
import { agentDocument, runDocument } from '../live/documents.ts';
import { usePaged } from '../live/paged.ts';
import { agentsOf, runsOf } from '../live/queries.ts';
import type { Paged } from '../live/states.ts';
import { More } from '../parts/More.tsx';
import { UserText } from '../parts/UserText.tsx';
import { addressOf, go, workspace } from '../router.ts';
import type { Person } from '../session/session.ts';
import { SCREENS } from './screens.ts';

interface Found {
  readonly kind: string;
  readonly title: string;
  readonly address: string;
}

const MAX_SHOWN = 12;

/** The id of a task, or the end of the id, finds the task even if it is not listed. */
const TASK_ID = /^task-[\w-]+$/;

export function Palette({ person, close }: { readonly person: Person; close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const words = useSignal('');
  const chosen = useSignal(0);
  useEffect(() => dialog.current?.showModal(), []);
  const { all, more } = useEverything(person);
  const sought = folded(words.value.trim());
  const id = words.value.trim().toLowerCase();
  const byId = TASK_ID.test(id) ? [{ kind: 'task', title: id, address: addressOf(['t', id]) }] : [];
  const matching = onePerAddress([...byId, ...all.filter(({ title }) => folded(title).includes(sought))]);
  const found = matching.slice(0, MAX_SHOWN);
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
            <span class="tag">{one.kind}</span> <UserText text={one.title} limit={100} />
          </div>
        ))}
      </div>
      <p class="soft" role="status">
        {found.length === 0 ? 'Nothing here has these words.' : ''}
        {matching.length > found.length ? `The first ${found.length} of ${matching.length}.` : ''}
      </p>
      <More what="results" more={more} />
    </dialog>
  );
}

/** Removes duplicates, because a listed task can also be found by its id. */
function onePerAddress(all: readonly Found[]): readonly Found[] {
  return [...new Map(all.map((one) => [one.address, one])).values()];
}

function rowsOf<Row>({ live }: Paged<Row>): readonly Row[] {
  return 'value' in live ? live.value.rows : [];
}

/** Returns the workspace's data to search. Its listeners stop when the palette is closed. */
function useEverything(person: Person) {
  const here = workspace.value;
  const session = useSessionId(here);
  const tasks = useOpenTasks({ here, session: 'value' in session ? session.value : undefined });
  const agents = usePaged(agentsOf(here), agentDocument);
  const runs = usePaged(runsOf(person.uid, here), runDocument);
  const cut = [tasks.more, agents.more, runs.more].filter((more) => more !== undefined);
  const all: readonly Found[] = [
    ...SCREENS.map(({ path, title }) => ({ kind: 'screen', title, address: addressOf(path === '' ? [] : [path]) })),
    ...rowsOf(tasks).map((task) => ({
      kind: 'task',
      title: `${task.description.split('\n', 1)[0]} · ${task.id}`,
      address: addressOf(['t', task.id]),
    })),
    ...rowsOf(agents).map((agent) => ({
      kind: 'agent',
      title: `${agent.name} · ${agent.id}`,
      address: addressOf(['a', agent.id]),
    })),
    ...rowsOf(runs).map((run) => ({ kind: 'run', title: run.title, address: addressOf(['r', run.id]) })),
  ];
  const more = () => {
    for (const load of cut) load();
  };
  return { all, more: cut.length === 0 ? undefined : more };
}
