/** Button that opens a dialog. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../ui/Icon.tsx';
import type { IconName } from '../../ui/icons.ts';
import { type ButtonKind, buttonClass } from './acting.tsx';
import { Dialog, type DialogContent } from './Dialog.tsx';

interface DialogButtonProps extends DialogContent {
  /** Label of the button, by default the title. */
  readonly label?: string;
  readonly icon?: IconName;
  readonly kind?: ButtonKind | undefined;
  readonly small?: boolean;
  opened?(): void;
  closed?(): void;
}

export function DialogButton({ label, icon, kind, small, opened, closed, ...content }: DialogButtonProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        class={buttonClass(kind, small && 'small')}
        onClick={() => {
          opened?.();
          isOpen.value = true;
        }}>
        {icon !== undefined && <Icon of={icon} />}
        {label ?? content.title}
      </button>
      {isOpen.value && (
        <Dialog
          {...content}
          closed={() => {
            isOpen.value = false;
            closed?.();
          }}
        />
      )}
    </>
  );
}
