/** Bar of one or more parts. Its words are next to it, unless it has a label. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'lead' | 'idle';

interface MeterProps {
  /** Parts from left to right, with their shares of the bar, from 0 to 1. */
  readonly parts: readonly (readonly [tone: Tone, share: number])[];
  readonly fine?: boolean;
  readonly label?: string;
}

export function Meter({ parts, fine = false, label }: MeterProps) {
  let from = 0;
  return (
    <svg
      class={`meter ${fine ? 'fine' : ''}`}
      role={label === undefined ? 'presentation' : 'img'}
      aria-hidden={label === undefined}
      aria-label={label}>
      {parts.map(([tone, share]) => {
        const x = from;
        from += share;
        return <rect key={tone} class={`f-${tone}`} x={`${100 * x}%`} width={`${100 * share}%`} height="100%" />;
      })}
    </svg>
  );
}
