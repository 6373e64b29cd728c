/** Part of a drawing that is shown: zoom and pan, by buttons, keys, wheel and dragging. */
import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface View {
  /** Top left corner, in the units of the drawing. */
  readonly x: number;
  readonly y: number;
  /** CSS pixels for each unit. */
  readonly scale: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const MAX_SCALE = 2;
const MIN_SCALE = 0.5;
const FIRST_SCALE = 0.75;
const STEP = 1.25;

/** Returns the view that shows the whole drawing, not enlarged, in the middle. */
export function fitted(drawing: Size, box: Size): View {
  const scale = Math.min(1, box.width / drawing.width, box.height / drawing.height);
  return {
    scale,
    x: (drawing.width - box.width / scale) / 2,
    y: Math.min(0, (drawing.height - box.height / scale) / 2),
  };
}

/** Returns the first view: the whole drawing, or its top left corner if the whole would be too small to read. */
export function readable(drawing: Size, box: Size): View {
  const whole = fitted(drawing, box);
  return whole.scale >= MIN_SCALE ? whole : { scale: FIRST_SCALE, x: 0, y: 0 };
}

/** Returns the view after zooming, with the given point of the box in its place. */
export function zoomed(view: View, by: number, at: { readonly x: number; readonly y: number }, least: number): View {
  const scale = Math.max(Math.min(MIN_SCALE, least), Math.min(MAX_SCALE, view.scale * by));
  const shift = 1 / view.scale - 1 / scale;
  return { scale, x: view.x + at.x * shift, y: view.y + at.y * shift };
}

export interface ViewControl {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly view: Signal<View>;
  readonly size: Signal<Size>;
  zoom(by: number): void;
  fit(): void;
}

/** @param drawing size of the drawing; a new drawing is fitted */
export function useView(drawing: Size): ViewControl {
  const box = useRef<HTMLDivElement>(null);
  const size = useSignal<Size>({ width: 1, height: 1 });
  const view = useSignal<View>({ x: 0, y: 0, scale: 1 });
  const isTouched = useRef(false);
  const fit = () => {
    isTouched.current = true;
    view.value = fitted(drawing, size.peek());
  };
  const least = () => fitted(drawing, size.peek()).scale;
  const zoom = (by: number, at = { x: size.peek().width / 2, y: size.peek().height / 2 }) => {
    isTouched.current = true;
    view.value = zoomed(view.peek(), by, at, least());
  };

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = () => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
      if (!isTouched.current) view.value = readable(drawing, size.peek());
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, [drawing.width, drawing.height]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    let last: { x: number; y: number } | undefined;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoom(event.deltaY < 0 ? STEP : 1 / STEP, { x: event.clientX - left, y: event.clientY - top });
    };
    const down = (event: PointerEvent) => {
      if (event.button === 0 && !(event.target instanceof Element && event.target.closest('a, button'))) {
        last = { x: event.clientX, y: event.clientY };
        element.setPointerCapture(event.pointerId);
      }
    };
    const move = ({ clientX, clientY }: PointerEvent) => {
      if (last === undefined) return;
      isTouched.current = true;
      const { x, y, scale } = view.peek();
      view.value = { scale, x: x - (clientX - last.x) / scale, y: y - (clientY - last.y) / scale };
      last = { x: clientX, y: clientY };
    };
    const up = () => {
      last = undefined;
    };
    const listening = new AbortController();
    const { signal } = listening;
    element.addEventListener('wheel', wheel, { passive: false, signal });
    element.addEventListener('pointerdown', down, { signal });
    element.addEventListener('pointermove', move, { signal });
    element.addEventListener('pointerup', up, { signal });
    element.addEventListener('pointercancel', up, { signal });
    return () => listening.abort();
  }, [drawing.width, drawing.height]);
  return { box, view, size, zoom, fit };
}

/** Returns the factor of a key; `fit` for zero; undefined for other keys. */
export function zoomOf(key: string): number | 'fit' | undefined {
  if (key === '+' || key === '=') return STEP;
  if (key === '-') return 1 / STEP;
  return key === '0' ? 'fit' : undefined;
}

export const ZOOM_IN = STEP;
export const ZOOM_OUT = 1 / STEP;
