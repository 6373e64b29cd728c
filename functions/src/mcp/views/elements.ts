/** Creates the elements of views. Text from others is inserted only through `textContent`, never as HTML. */
import { HIDDEN_CHARACTERS } from '../../kernel/hiddenCharacters.ts';

/** Splits a text before and after each hidden character. */
const SEPARATED = new RegExp(`(${HIDDEN_CHARACTERS.source})`, 'u');

export type Child = Node | string | undefined | false;

/** Creates an element. @param kind the tag, then classes, separated by dots: `li.row` */
export function make(kind: string, ...children: readonly Child[]): HTMLElement {
  const [tag = 'div', ...classes] = kind.split('.');
  const element = document.createElement(tag);
  element.className = classes.join(' ');
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Shows text from others: long text is truncated, and hidden characters are replaced by their code points. */
export function boundedText(text: string, max = 160): HTMLElement {
  const letters = [...text.trim()];
  const shown = letters.length > max ? `${letters.slice(0, max).join('')}…` : letters.join('');
  const pieces = shown.split(SEPARATED).map((piece, index) => (index % 2 === 1 ? codePoint(piece) : piece));
  return make('bdi.words', ...pieces);
}

function codePoint(letter: string): HTMLElement {
  const hexadecimal = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return make('span.unseen', `U+${hexadecimal}`);
}

/** Shows a state as a word in a color. */
export function state(word: string, tone: Tone): HTMLElement {
  return make(`span.state.${tone}`, word.replaceAll('_', ' '));
}

export type Tone = 'good' | 'bad' | 'busy' | 'late' | 'quiet';

/** Returns the tone, which determines the color, for a state of any toolset. */
export function toneOf(word: string): Tone {
  if (/^(done|completed|succeeded|answered)$/.test(word)) return 'good';
  if (/^(failed|cancelled|error)$/.test(word)) return 'bad';
  if (/^(running|in_progress|claimed)$/.test(word)) return 'busy';
  return word.startsWith('waiting') ? 'late' : 'quiet';
}

export interface ButtonOptions {
  /** Identifies the element, so that it still has the focus after the view is drawn again. */
  readonly key: string;
  /** Label for screen readers, if the text does not name what the element acts on. */
  readonly label?: string;
  readonly disabled?: boolean;
}

export function button(text: string, options: ButtonOptions, press: () => void): HTMLElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  return pressable(made, options, press);
}

/** Creates a checkbox. A press does not change the checkbox. Instead, the caller draws the new state. */
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

/** Shows as many rows as fit, and the number of the remaining rows. */
export function rows(name: string, all: readonly HTMLElement[], more = 0): HTMLElement | undefined {
  if (all.length === 0) return undefined;
  const list = make('ul', ...all.slice(0, MAX_ROWS));
  list.setAttribute('aria-label', name);
  const rest = all.length - Math.min(all.length, MAX_ROWS) + Math.max(0, more);
  return make('section', make('h2', name), list, rest > 0 && make('p.quiet', `and ${rest} more`));
}

export const MAX_ROWS = 12;

/** Replaces the content of the view. The focused element keeps the focus. */
export function show(place: HTMLElement, children: readonly Child[]): void {
  const { activeElement } = document;
  const key = activeElement instanceof HTMLElement && activeElement.dataset['key'];
  place.replaceChildren(...children.filter((child) => child !== undefined && child !== false));
  if (!key || document.contains(activeElement)) return;
  for (const one of place.querySelectorAll<HTMLElement>('[data-key]')) if (one.dataset['key'] === key) one.focus();
}
