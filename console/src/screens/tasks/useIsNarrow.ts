/** Whether tables are lists of two lines, as in screens.css. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const NARROW = '(width < 56rem)';

export function useIsNarrow(): boolean {
  const isNarrow = useSignal(matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const changed = () => (isNarrow.value = query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, [isNarrow]);
  return isNarrow.value;
}
