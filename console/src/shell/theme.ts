/** Light and dark: as the system has it, or as the person chose. */
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'muster.theme';

export const theme = signal<Theme>('system');

/** Applies the stored choice. Call it before the first view. */
export function startTheme(): void {
  const stored = localStorage.getItem(KEY);
  apply(ORDER.find((one) => one === stored) ?? 'system');
}

export function nextTheme(): void {
  const next = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? 'system';
  if (next === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  apply(next);
}

function apply(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset['theme'] = chosen;
}
