/** Elements of views. Untrusted text is inserted only through `textContent`. */

import { HIDDEN_CHARACTERS } from '../../kernel/hiddenCharacters.ts';

/** Splits a text at hidden characters and keeps them. */
const SEPARATED = new RegExp(`(${HIDDEN_CHARACTERS.source})`, 'u');

export type Child = Node | string | undefined | false;

/** Creates an element. @param kind the tag, and classes after dots: `li.row` */
export function make(kind: string, ...children: readonly Child[]): HTMLElement {
  const [tag = 'div', ...classes] = kind.split('.');
  const element = document.createElement(tag);
  element.className = classes.join(' ');
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Shows untrusted text: hidden characters as code points, and long text truncated. */
export function boundedText(text: string, most = 160): HTMLElement {
  const letters = [...text.trim()];
  const shown = letters.length > most ? `${letters.slice(0, most).join('')}…` : letters.join('');
  const pieces = shown.split(SEPARATED).map((piece, index) => (index % 2 === 1 ? codePoint(piece) : piece));
  return make('bdi.words', ...pieces);
}

function codePoint(letter: string): HTMLElement {
  const hexadecimal = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return make('span.unseen', `U+${hexadecimal}`);
}

/** Shows a state by color and word. */
export function state(word: string, tone: Tone): HTMLElement {
  return make(`span.state.${tone}`, word.replaceAll('_', ' '));
}

export type Tone = 'good' | 'bad' | 'busy' | 'late' | 'quiet';

/** Returns the tone of a state word of any toolset. */
export function toneOf(word: string): Tone {
  if (/^(done|completed|succeeded|answered)$/.test(word)) return 'good';
  if (/^(failed|cancelled|error)$/.test(word)) return 'bad';
  if (/^(running|in_progress|claimed)$/.test(word)) return 'busy';
  return word.startsWith('waiting') ? 'late' : 'quiet';
}

export interface ButtonOptions {
  /** Identifies the element after a redraw, so that it keeps the focus. */
  readonly key: string;
  /** Accessible name, if the text does not name the subject. */
  readonly label?: string;
  readonly disabled?: boolean;
}

export function button(text: string, options: ButtonOptions, press: () => void): HTMLElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  return pressable(made, options, press);
}

/** Creates a checkbox. The caller redraws its new state. */
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

/** Shows rows, and the number of those that do not fit. */
export function rows(name: string, all: readonly HTMLElement[], more = 0): HTMLElement | undefined {
  if (all.length === 0) return undefined;
  const list = make('ul', ...all.slice(0, MAX_ROWS));
  list.setAttribute('aria-label', name);
  const rest = all.length - Math.min(all.length, MAX_ROWS) + Math.max(0, more);
  return make('section', make('h2', name), list, rest > 0 && make('p.quiet', `and ${rest} more`));
}

export const MAX_ROWS = 12;

/** Replaces the content of the view and keeps the focus. */
export function show(place: HTMLElement, children: readonly Child[]): void {
  const { activeElement } = document;
  const key = activeElement instanceof HTMLElement && activeElement.dataset['key'];
  place.replaceChildren(...children.filter((child) => child !== undefined && child !== false));
  if (!key || document.contains(activeElement)) return;
  for (const one of place.querySelectorAll<HTMLElement>('[data-key]')) if (one.dataset['key'] === key) one.focus();
}
