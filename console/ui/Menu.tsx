/**
 * Menu under a button. Escape, a click elsewhere and a chosen entry close it; the arrow keys move in it. An entry of
 * the class `stay`, which is switched on or off, leaves it open.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './Icon.tsx';
import type { IconName } from './icons.ts';

interface MenuProps {
  /** Accessible name of the button; absent if the button shows words. */
  readonly label?: string;
  readonly class?: string;
  /** Class of the button. */
  readonly button?: string;
  /** Content of the button. If absent, three dots. */
  readonly summary?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Menu({ label, class: name = '', button = 'b only', summary, children }: MenuProps) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && box.current?.contains(target) === false) box.current.open = false;
    };
    addEventListener('pointerdown', closeOutside);
    addEventListener('focusin', closeOutside);
    return () => {
      removeEventListener('pointerdown', closeOutside);
      removeEventListener('focusin', closeOutside);
    };
  }, []);

  function close() {
    if (box.current !== null) box.current.open = false;
    box.current?.querySelector('summary')?.focus();
  }

  function byKeys(event: KeyboardEvent) {
    if (event.key === 'Escape' && box.current?.open === true) {
      event.stopPropagation();
      close();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    if (box.current !== null) box.current.open = true;
    const entries = [...(box.current?.querySelectorAll<HTMLElement>('.pick:not(:disabled)') ?? [])];
    const { activeElement } = document;
    const at = activeElement instanceof HTMLElement ? entries.indexOf(activeElement) : -1;
    entries[(at + step + entries.length) % entries.length]?.focus();
  }

  return (
    <details class={`menu ${name}`} ref={box} onKeyDown={byKeys}>
      <summary class={button} aria-label={label} title={label}>
        {summary ?? <Icon of="more" />}
      </summary>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: its entries are buttons and links, which have keys. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the same. */}
      <div
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('.pick:not(.stay)') !== null) close();
        }}>
        {children}
      </div>
    </details>
  );
}

interface EntryProps {
  readonly icon?: IconName;
  readonly label: ComponentChildren;
  /** Key or value at the right. */
  readonly hint?: string;
  readonly kind?: 'bad';
  readonly href?: string;
  readonly disabled?: boolean;
  choose?(): void;
}

export function Entry({ icon, label, hint, kind, href, disabled, choose }: EntryProps) {
  const content = (
    <>
      {icon !== undefined && <Icon of={icon} />}
      <span>{label}</span>
      {hint !== undefined && <small>{hint}</small>}
    </>
  );
  if (href !== undefined) {
    return (
      <a class="pick" href={href}>
        {content}
      </a>
    );
  }
  return (
    <button type="button" class={`pick ${kind ?? ''}`} disabled={disabled} onClick={choose}>
      {content}
    </button>
  );
}
