/** Renders only the visible rows of a list and some rows around them, so that a long list does not slow the page. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Number of additional rows above and below, so that no gaps are visible while scrolling. */
const OVERSCAN = 12;

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns which rows are visible.
 * @param height height of a row, in CSS pixels
 */
export function useWindow(count: number, height: number) {
  const box = useRef<HTMLElement>(null);
  const span = useSignal<Span>({ from: 0, to: OVERSCAN * 4 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = () => {
      const from = Math.max(0, Math.floor(element.scrollTop / height) - OVERSCAN);
      const to = Math.ceil((element.scrollTop + element.clientHeight) / height) + OVERSCAN;
      if (from !== span.peek().from || to !== span.peek().to) span.value = { from, to };
    };
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      resized.disconnect();
    };
  }, [height, span]);
  const from = Math.min(span.value.from, count);
  const to = Math.min(span.value.to, count);
  return { box, from, to, above: from * height, below: (count - to) * height };
}

/** Empty table row that takes the space of the rows that are not rendered. */
export function Gap({ height, columns }: { readonly height: number; readonly columns: number }): ComponentChildren {
  if (height === 0) return null;
  return (
    <tr>
      <td colSpan={columns} class="gap" style={{ height: `${height}px` }} />
    </tr>
  );
}
