/** What the views are made of. Whatever somebody wrote gets into the page by `textContent`, and in no other way. */

import { HIDDEN } from '../../kernel/hidden.ts';

/** Keeps what it separates. */
const SEPARATED = new RegExp(`(${HIDDEN.source})`, 'u');

export type Child = Node | string | undefined | false;

/** @param kind the element's tag, and its class after a dot: `li.row` */
export function make(kind: string, ...children: readonly Child[]): HTMLElement {
  const [tag = 'div', ...classes] = kind.split('.');
  const element = document.createElement(tag);
  element.className = classes.join(' ');
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Text of others: what cannot be seen is shown by its code point, and what is too long by its beginning. */
export function words(text: string, most = 160): HTMLElement {
  const letters = [...text.trim()];
  const shown = letters.length > most ? `${letters.slice(0, most).join('')}…` : letters.join('');
  const pieces = shown.split(SEPARATED).map((piece, index) => (index % 2 === 1 ? codePoint(piece) : piece));
  return make('bdi.words', ...pieces);
}

function codePoint(letter: string): HTMLElement {
  const hexadecimal = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return make('span.unseen', `U+${hexadecimal}`);
}

/** A state in colour and in words. */
export function state(word: string, tone: Tone): HTMLElement {
  return make(`span.state.${tone}`, word.replaceAll('_', ' '));
}

export type Tone = 'good' | 'bad' | 'busy' | 'late' | 'quiet';

/** The colour of a state, by the words that Muster's toolsets have for it. */
export function toneOf(word: string): Tone {
  if (/^(done|completed|succeeded|answered)$/.test(word)) return 'good';
  if (/^(failed|cancelled|error)$/.test(word)) return 'bad';
  if (/^(running|in_progress|claimed)$/.test(word)) return 'busy';
  return word.startsWith('waiting') ? 'late' : 'quiet';
}

export interface ButtonOptions {
  /** Finds it again when the view is drawn anew, so that it keeps the focus. */
  readonly key: string;
  /** What it is called where its text does not say what it is about. */
  readonly label?: string;
  readonly disabled?: boolean;
}

export function button(text: string, options: ButtonOptions, press: () => void): HTMLElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  return pressable(made, options, press);
}

/** A box that is ticked or not; what it comes to is drawn by whoever draws. */
export function tick(isTicked: boolean, options: ButtonOptions, press: () => void): HTMLElement {
  const made = document.createElement('input');
  made.type = 'checkbox';
  made.checked = isTicked;
  return pressable(made, options, press);
}

function pressable(
  made: HTMLButtonElement | HTMLInputElement,
  { key, label, disabled = false }: ButtonOptions,
  press: () => void,
): HTMLElement {
  made.dataset['key'] = key;
  made.disabled = disabled;
  if (label !== undefined) made.setAttribute('aria-label', label);
  made.addEventListener('click', press);
  return made;
}

/** Rows, and how many more there are than fit into a chat. */
export function rows(name: string, all: readonly HTMLElement[], more = 0): HTMLElement | undefined {
  if (all.length === 0) return undefined;
  const list = make('ul', ...all.slice(0, MOST_ROWS));
  list.setAttribute('aria-label', name);
  const rest = all.length - Math.min(all.length, MOST_ROWS) + Math.max(0, more);
  return make('section', make('h2', name), list, rest > 0 && make('p.quiet', `and ${rest} more`));
}

export const MOST_ROWS = 12;

/** Replaces what is in the view, and leaves the focus where it was. */
export function show(place: HTMLElement, children: readonly Child[]): void {
  const { activeElement } = document;
  const key = activeElement instanceof HTMLElement && activeElement.dataset['key'];
  place.replaceChildren(...children.filter((child) => child !== undefined && child !== false));
  if (!key || document.contains(activeElement)) return;
  for (const one of place.querySelectorAll<HTMLElement>('[data-key]'))
    if (one.dataset['key'] === key) one.focus();
}
