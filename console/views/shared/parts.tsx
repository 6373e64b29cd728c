/** Parts of views: a head with the state of the item, sections of rows, and short texts from others. */
import type { ComponentChildren } from 'preact';
import { views as text } from '../../text/views.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { plural } from '../../ui/format.ts';
import { State, stateName } from '../../ui/State.tsx';
import { UserText } from '../../ui/UserText.tsx';

/** Maximum number of rows of a view, so that it stays small in the conversation. */
export const MAX_ROWS = 12;

interface WordsProps {
  readonly text: string;
  readonly max?: number;
}

/** Shows text from others on little space: longer text is cut. */
export function Words({ text: whole, max = 160 }: WordsProps) {
  const letters = [...whole.trim()];
  return <UserText text={letters.length > max ? `${letters.slice(0, max).join('')}…` : letters.join('')} />;
}

/** Shows an agent. Responses contain the agent's id, which is often its name. */
export function Agent({ id }: { readonly id: string }) {
  return (
    <span class="named">
      <Avatar name={id} id={id} />
      <Words text={id} max={60} />
    </span>
  );
}

interface SignProps {
  readonly of: string;
  readonly words?: string;
}

/** Shows the icon of a state before the name of the item. Screen readers get the words. */
export function Sign({ of, words = stateName(of) }: SignProps) {
  return (
    <>
      <State of={of} words="" />
      <span class="away">{words}</span>
    </>
  );
}

interface HeadProps {
  readonly title: string;
  /** Stored state of the item. */
  readonly state?: string;
  /** One sentence about how the item stands. */
  readonly children?: ComponentChildren;
}

export function Head({ title, state = '', children }: HeadProps) {
  return (
    <header class="stack">
      <h1>
        <Words text={title} max={240} />
      </h1>
      {state !== '' && (
        <p class="sentence">
          <State of={state} pill />
          {children}
        </p>
      )}
    </header>
  );
}

interface SectionProps {
  /** Absent if the view has one section. */
  readonly title?: string;
  readonly count?: number | string;
  /** Rows, which are list items. Only the first of them are shown. */
  readonly rows: readonly ComponentChildren[];
  /** Number of rows that the response does not contain. */
  readonly more?: number;
}

/** A list of rows in a card, with the number of the remaining rows. Shows nothing if there are no rows. */
export function Section({ title, count, rows, more = 0 }: SectionProps) {
  if (rows.length === 0) return null;
  const shown = rows.slice(0, MAX_ROWS);
  const rest = rows.length - shown.length + Math.max(0, more);
  return (
    <section>
      {title !== undefined && (
        <div class="head">
          <h2>{title}</h2>
          {count !== undefined && <span class="count">{count}</span>}
        </div>
      )}
      <ul class="card rows" aria-label={title}>
        {shown}
      </ul>
      {rest > 0 && <p class="hint">{plural(rest, text.more)}</p>}
    </section>
  );
}

/** Facts in one line, with dots between them. Empty facts are left out. */
export function Facts({ of }: { readonly of: readonly ComponentChildren[] }) {
  const shown = of.filter((fact) => fact !== undefined && fact !== false && fact !== '');
  if (shown.length === 0) return null;
  return (
    <p class="meta">
      {shown.map((fact, index) => (
        // The facts of an item have a fixed order.
        <span key={index}>{fact}</span>
      ))}
    </p>
  );
}
