/** Menu of the columns of the table, and of saved views, which are addresses with a name. */
import { signal } from '@preact/signals';
import { z } from 'zod/mini';
import { tasks as text } from '../../../text/tasks.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { Entry, Menu } from '../../../ui/Menu.tsx';
import { stored } from '../../parts/stored.ts';
import { ask, go, parameter } from '../../router.ts';
import { COLUMN_NAMES, type ColumnName, DEFAULT_COLUMNS } from './rows.ts';

const [readColumns, writeColumns] = stored('muster.taskColumns', z.array(z.enum(COLUMN_NAMES)), [...DEFAULT_COLUMNS]);
const [readViews, writeViews] = stored(
  'muster.taskViews',
  z.array(z.object({ name: z.string(), address: z.string() })),
  [],
);

/** Columns that the person chose, in their order in the table. */
export const columns = signal<readonly ColumnName[]>(readColumns());
const views = signal(readViews());

/** Parameters that are part of a view. */
const PARAMETERS = ['view', 'show', 'mine', 'q', 'sort'] as const;

export function ViewMenu({ hasColumns }: { readonly hasColumns: boolean }) {
  const isFiltered = PARAMETERS.some((name) => parameter(name) !== undefined);
  return (
    <Menu
      button="b quiet"
      label={text.options}
      summary={
        <>
          <Icon of="settings" />
          {text.options}
        </>
      }>
      {hasColumns && <p class="label">{text.columnsTitle}</p>}
      {hasColumns &&
        COLUMN_NAMES.map((name) => {
          const isShown = columns.value.includes(name);
          return (
            <button
              key={name}
              type="button"
              class="pick stay"
              role="menuitemcheckbox"
              aria-checked={isShown}
              onClick={() => toggle(name)}>
              <Icon of={isShown ? 'check' : 'minus'} />
              {text.columns[name]}
            </button>
          );
        })}
      {(isFiltered || views.value.length > 0) && <hr />}
      {views.value.length > 0 && <p class="label">{text.savedViews}</p>}
      {views.value.map(({ name, address }) => (
        <Entry key={name} icon="flag" label={name} choose={() => go(address)} />
      ))}
      {isFiltered && <SaveView />}
      {isFiltered && <Entry icon="cross" label={text.clear} choose={clear} />}
      {views.value.length > 0 && <Entry icon="trash" label={text.forgetViews} choose={() => save([])} />}
    </Menu>
  );
}

function toggle(name: ColumnName): void {
  const chosen = columns.value.includes(name) ? columns.value.filter((one) => one !== name) : [...columns.value, name];
  columns.value = COLUMN_NAMES.filter((one) => chosen.includes(one));
  writeColumns([...columns.value]);
}

function clear(): void {
  for (const name of PARAMETERS) ask(name, undefined);
}

function save(all: typeof views.value): void {
  views.value = all;
  writeViews(all);
}

/** Field for the name of the present view. Enter saves it. */
function SaveView() {
  return (
    <form
      class="write"
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem('name');
        const name = field instanceof HTMLInputElement ? field.value.trim() : '';
        if (name === '') return;
        const others = views.value.filter((one) => one.name !== name);
        save([...others, { name, address: `${location.pathname}${location.search}` }]);
        event.currentTarget.reset();
      }}>
      <input
        class="input"
        name="name"
        maxLength={40}
        aria-label={text.saveAs}
        placeholder={text.saveAs}
        autocomplete="off"
      />
      <button type="submit" class="b small">
        {text.save}
      </button>
    </form>
  );
}
