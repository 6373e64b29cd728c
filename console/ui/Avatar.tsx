/** Initials of a person, in a circle, or of an agent, in a square. */
import { initialsOf } from '../../functions/src/kernel/initials.ts';

interface AvatarProps {
  readonly name: string;
  /** Decides the hue of an agent, so that an agent looks the same everywhere. */
  readonly id: string;
  readonly isPerson?: boolean;
  readonly sign?: 'working' | 'silent' | 'offline' | undefined;
  readonly large?: boolean;
}

const HUES = ['a', 'b2', 'c', 'd'] as const;

export function Avatar({ name, id, isPerson = false, sign, large = false }: AvatarProps) {
  const hue = isPerson ? 'person' : (HUES[sumOf(id) % HUES.length] ?? 'a');
  return (
    <span class={`who ${hue} ${large ? 'large' : ''}`} data-sign={sign} aria-hidden="true">
      {isPerson ? [...initialsOf(name)][0] : initialsOf(name)}
    </span>
  );
}

const sumOf = (id: string): number => [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9973, 7);
