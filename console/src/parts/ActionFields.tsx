/** Fields that change something when a person chooses a value. They are disabled while nothing can be changed. */
import type { ComponentChildren } from 'preact';
import { isOffline } from '../live/sources.ts';
import { tellError } from './acting.tsx';
import { Select, type SelectProps } from './Select.tsx';

interface ActionSelectProps extends Omit<SelectProps, 'choose'> {
  act(value: string): Promise<unknown>;
}

/** List whose choice calls a tool. If the call fails, the list shows the earlier choice again. */
export function ActionSelect({ act, ...list }: ActionSelectProps) {
  return (
    <Select
      {...list}
      disabled={isOffline.value}
      choose={(chosen, select) =>
        void act(chosen).catch((error: unknown) => {
          select.value = list.value;
          tellError(error);
        })
      }
    />
  );
}

interface SwitchProps {
  readonly isOn: boolean;
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
  set(isOn: boolean): void;
}

export function Switch({ isOn, hint, disabled = false, children, set }: SwitchProps) {
  return (
    <label class="check grow">
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        aria-checked={isOn}
        disabled={disabled || isOffline.value}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      <span>
        {children}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  );
}
