/** State of a task, run, to-do or agent: an icon with its own shape, a word, and a color. */
import { states } from '../text/common.ts';
import { Icon } from './Icon.tsx';
import type { IconName } from './icons.ts';

interface Look {
  readonly icon: IconName;
  /** Class that gives the color. */
  readonly tone?: 'done' | 'failed' | 'never' | 'waiting' | 'verifying' | 'progress';
}

const LOOKS: Readonly<Record<string, Look>> = {
  available: { icon: 'is-ready' },
  pending: { icon: 'is-ready' },
  blocked: { icon: 'is-blocked' },
  never: { icon: 'is-never', tone: 'never' },
  claimed: { icon: 'is-claimed', tone: 'progress' },
  in_progress: { icon: 'is-progress', tone: 'progress' },
  running: { icon: 'is-progress', tone: 'progress' },
  waiting: { icon: 'is-waiting', tone: 'waiting' },
  verifying: { icon: 'is-verifying', tone: 'verifying' },
  budget: { icon: 'dollar', tone: 'waiting' },
  lapsed: { icon: 'clock', tone: 'waiting' },
  overdue: { icon: 'clock', tone: 'failed' },
  done: { icon: 'is-done', tone: 'done' },
  succeeded: { icon: 'is-done', tone: 'done' },
  failed: { icon: 'is-failed', tone: 'failed' },
  red: { icon: 'is-failed', tone: 'failed' },
  cancelled: { icon: 'is-cancelled' },
  open: { icon: 'is-ready' },
};

/** Returns the name that people see for a state. A newer server may have states that the page does not know. */
export const stateName = (state: string): string => states[state] ?? state;

export const iconOf = (state: string): IconName => LOOKS[state]?.icon ?? 'is-ready';

interface StateProps {
  readonly of: string;
  readonly pill?: boolean;
  /** Words instead of the name of the state. */
  readonly words?: string;
}

export function State({ of, pill = false, words = stateName(of) }: StateProps) {
  const { tone = '' } = LOOKS[of] ?? {};
  return (
    <span class={`state ${tone} ${pill ? 'pill' : ''}`}>
      <Icon of={iconOf(of)} />
      {words}
    </span>
  );
}
