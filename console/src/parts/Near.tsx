/** Row of a list that has its content only near the visible part of the page, so that long lists stay fast. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, HTMLAttributes } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Pixels above and below the visible part within which rows have their content. */
const MARGIN = 600;

/** Rows that the person uses keep their content: with the focus, or with an open menu or details. */
const IN_USE = ':focus-within, :has([open], [aria-expanded="true"])';

const changed = new WeakMap<Element, (entry: IntersectionObserverEntry) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) changed.get(entry.target)?.(entry);
  },
  { rootMargin: `${MARGIN}px 0px` },
);

interface NearProps extends HTMLAttributes<HTMLElement> {
  readonly as?: 'li' | 'tr';
  /** Typical height in CSS pixels, for a row that was not shown yet. */
  readonly height?: number;
  readonly children: ComponentChildren;
}

export function Near({ as: Tag = 'li', height = 44, children, ...rest }: NearProps) {
  const box = useRef<HTMLLIElement & HTMLTableRowElement>(null);
  /** Height of the empty row; undefined while it has its content. */
  const empty = useSignal<number | undefined>(height);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    // The browser paints only after this effect, so that visible rows are never empty at first.
    if (element.getBoundingClientRect().top < innerHeight + MARGIN) empty.value = undefined;
    changed.set(element, ({ isIntersecting, boundingClientRect: { height: last } }) => {
      if (isIntersecting) empty.value = undefined;
      else if (!element.matches(IN_USE)) empty.value ??= last;
    });
    observer.observe(element);
    return () => observer.unobserve(element);
  }, [empty]);
  return (
    <Tag {...rest} ref={box} style={empty.value === undefined ? undefined : { height: `${empty.value}px` }}>
      {empty.value === undefined && children}
    </Tag>
  );
}
