/** Renders only the visible rows of a list and some rows around them, so that a long list does not slow the page. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Pixels above and below the visible part that are rendered too, so that no gaps are visible while scrolling. */
const OVERSCAN = 500;

/** Returns the distance of each row from the top, and the height of all. @param heights in CSS pixels */
export function offsetsOf(heights: readonly number[]): readonly number[] {
  const offsets = [0];
  for (const height of heights) offsets.push((offsets.at(-1) ?? 0) + height);
  return offsets;
}

/** Returns the number of the row at a distance from the top. */
export function rowAt(offsets: readonly number[], distance: number): number {
  let [low, high] = [0, Math.max(0, offsets.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= distance) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns which rows are visible.
 * @param offsets of `offsetsOf`
 * @param scrolls whether the box scrolls, or the whole page
 */
export function useWindow(offsets: readonly number[], scrolls: 'box' | 'page') {
  const box = useRef<HTMLElement>(null);
  const count = offsets.length - 1;
  const span = useSignal({ from: 0, to: 60 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const scroller = scrolls === 'box' ? element : globalThis;
    const measure = () => {
      const top = scrolls === 'box' ? element.scrollTop : -element.getBoundingClientRect().top;
      const height = scrolls === 'box' ? element.clientHeight : innerHeight;
      const from = rowAt(offsets, top - OVERSCAN);
      const to = rowAt(offsets, top + height + OVERSCAN) + 1;
      if (from !== span.peek().from || to !== span.peek().to) span.value = { from, to };
    };
    measure();
    scroller.addEventListener('scroll', measure, { passive: true });
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => {
      scroller.removeEventListener('scroll', measure);
      resized.disconnect();
    };
  }, [offsets, scrolls, span]);
  const from = Math.min(span.value.from, count);
  const to = Math.min(span.value.to, count);
  const whole = offsets[count] ?? 0;
  return { box, from, to, above: offsets[from] ?? 0, below: whole - (offsets[to] ?? whole) };
}

/** Empty table row that takes the space of the rows that are not rendered. */
export function Gap({ height, columns }: { readonly height: number; readonly columns: number }): ComponentChildren {
  if (height === 0) return null;
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  );
}
