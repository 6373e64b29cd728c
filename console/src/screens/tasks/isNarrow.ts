/** Whether tables are lists of two lines, as in screens.css. */
import { signal } from '@preact/signals';

const query = matchMedia('(width < 56rem)');
export const isNarrow = signal(query.matches);
query.addEventListener('change', () => (isNarrow.value = query.matches));
