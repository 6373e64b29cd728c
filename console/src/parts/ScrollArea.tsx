/** Part of a screen that scrolls. It can have the focus, so that it can be scrolled with the keyboard, too. */
import type { ComponentChildren, Ref } from 'preact';

interface ScrollAreaProps {
  readonly class: string;
  readonly label: string;
  readonly box?: Ref<HTMLElement>;
  readonly children: ComponentChildren;
  onScroll?(event: Event & { readonly currentTarget: HTMLElement }): void;
  onKeyDown?(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void;
}

export function ScrollArea({ class: name, label, box = null, children, ...handlers }: ScrollAreaProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: people without a mouse scroll the focused element.
    <section class={name} aria-label={label} ref={box} tabIndex={0} {...handlers}>
      {children}
    </section>
  );
}
