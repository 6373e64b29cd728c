/** Search for tasks in every state, to-dos, runs, agents, people and screens. Control K or Command K opens it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { folded } from '../../../functions/src/kernel/textSearch.ts';
import { shell } from '../../text/shell.ts';
import { fill } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import type { IconName } from '../../ui/icons.ts';
import { iconOf, stateName } from '../../ui/State.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { go } from '../router.ts';
import type { Person } from '../session/session.ts';
import { type Found, useSearch } from './search.ts';

const MAX_SHOWN = 12;

interface PaletteProps {
  readonly person: Person;
  close(): void;
}

export function Palette({ person, close }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const words = useSignal('');
  const chosen = useSignal(0);
  const shown = useSignal(MAX_SHOWN);
  useEffect(() => dialog.current?.showModal(), []);
  const { all, isSearching, more } = useSearch(person, words.value.trim());
  const typed = words.value.trim().toLowerCase();
  const sought = folded(typed);
  const matching = onePerAddress(
    all.filter(({ id, title }) => id === typed || sought.split(' ').every((word) => folded(title).includes(word))),
  );
  const found = matching.slice(0, shown.value);
  const at = Math.min(chosen.value, found.length - 1);
  const isMore = matching.length > found.length || more !== undefined;

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
    <dialog class="palette" ref={dialog} aria-label={shell.search} onClose={close}>
      <label class="search">
        <span class="away">{shell.searchHint}</span>
        <Icon of="search" />
        <input
          class="input"
          role="combobox"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={found[at] === undefined ? undefined : `found-${at}`}
          autocomplete="off"
          placeholder={shell.searchHint}
          value={words.value}
          onInput={(event) => {
            words.value = event.currentTarget.value;
            chosen.value = 0;
            shown.value = MAX_SHOWN;
          }}
          onKeyDown={byKeys}
        />
      </label>
      <div id="found" role="listbox" aria-label={shell.results}>
        {found.map((one, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys of the list.
          <div
            key={one.address}
            id={`found-${index}`}
            class="pick"
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => open(one)}>
            <Icon of={one.state !== undefined && one.kind !== 'run' ? iconOf(one.state) : ICONS[one.kind]} />
            <span class="cut">
              <UserText text={one.title} limit={120} />
            </span>
            <small>{one.state === undefined ? shell.kinds[one.kind] : stateName(one.state)}</small>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {isSearching
          ? shell.searching
          : found.length === 0 && sought !== ''
            ? fill(shell.noResults, { words: words.value.trim() })
            : ''}
      </p>
      {isMore && (
        <button
          type="button"
          class="b quiet small"
          onClick={() => {
            shown.value += MAX_SHOWN;
            if (matching.length <= shown.value) more?.();
          }}>
          {shell.moreResults}
        </button>
      )}
    </dialog>
  );
}

const ICONS: Readonly<Record<Found['kind'], IconName>> = {
  page: 'arrow',
  task: 'tasks',
  todo: 'todo',
  run: 'run',
  agent: 'agent',
  person: 'people',
};

/** Removes duplicates, because a listed item can also be found by the server. */
function onePerAddress(all: readonly Found[]): readonly Found[] {
  return [...new Map(all.map((one) => [one.address, one])).values()];
}
