/** Global keyboard shortcuts, except in text fields. */
import { addressOf, go } from '../router.ts';
import { SCREENS } from './screens.ts';

/** @param find opens the palette @returns a function that stops listening */
export function followKeys(find: () => void): () => void {
  let isAfterG = false;
  function byKeys(event: KeyboardEvent): void {
    if (isToFind(event)) {
      event.preventDefault();
      find();
      return;
    }
    if (hasModifier(event) || isWriting(event)) return;
    const screen = isAfterG ? SCREENS.find((one) => one.key === event.key) : undefined;
    isAfterG = event.key === 'g';
    if (screen !== undefined) go(addressOf(screen.path === '' ? [] : [screen.path]));
  }
  addEventListener('keydown', byKeys);
  return () => removeEventListener('keydown', byKeys);
}

function isToFind(event: KeyboardEvent): boolean {
  if (event.key === '/') return !hasModifier(event) && !isWriting(event);
  return (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
}

function hasModifier({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}

function isWriting({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog[open]') !== null;
}
