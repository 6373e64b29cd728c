/** Priority of a task: three bars, of which more are filled the more urgent it is, and its number. */
interface PriorityProps {
  /** From 1 (first) to 10 (last). */
  readonly of: number;
  /** Spoken form. */
  readonly label: string;
}

export function Priority({ of, label }: PriorityProps) {
  const filled = of <= 3 ? 3 : of <= 6 ? 2 : 1;
  return (
    <span class="priority-bars" title={label}>
      <svg class="i small" viewBox="0 0 16 16" aria-hidden="true">
        {[10, 7, 4].map((y, index) => (
          <rect
            key={y}
            class={index < filled ? 'filled' : 'filled dim'}
            x={2 + 4.5 * index}
            y={y}
            width="3"
            height={14 - y}
            rx="1"
          />
        ))}
      </svg>
      {`P${of}`}
    </span>
  );
}

/** Options of a list of priorities. */
export const PRIORITIES = Array.from({ length: 10 }, (_none, index) => [`${index + 1}`, `P${index + 1}`] as const);
