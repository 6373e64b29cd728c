import type { Signal } from '@preact/signals';

/** Lowest role first. */
export const ROLES = ['viewer', 'worker', 'leader'] as const;

export function RoleChoice({ label, role }: { readonly label: string; readonly role: Signal<string> }) {
  return (
    <label>
      {label}
      <select
        value={role.value}
        onChange={(event) => {
          role.value = event.currentTarget.value;
        }}
      >
        {ROLES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}
