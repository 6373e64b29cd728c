/** What was noticed, on its way into the log. */
import { byteLength } from '../size.ts';
import type { Transition } from './transition.ts';

/** What one entry of the log holds at most, unless a single transition is larger. */
export const MAX_ENTRY_TRANSITIONS = 100;
const MAX_ENTRY_BYTES = 262_144;

/**
 * Waits to be logged. What changed again meanwhile is one change, from how it was first to how it is now;
 * what came or went is never merged.
 */
export class Pending {
  private transitions: Transition[] = [];
  /** Where the last transition of each key stands. */
  private readonly last = new Map<string, number>();

  get size(): number {
    return this.transitions.length;
  }

  add(transition: Transition): void {
    const at = this.last.get(transition.key);
    const earlier = at === undefined ? undefined : this.transitions[at];
    if (at !== undefined && earlier?.kind === 'changed' && transition.kind === 'changed') {
      this.transitions[at] = merged(earlier, transition);
      return;
    }
    this.last.set(transition.key, this.transitions.length);
    this.transitions.push(transition);
  }

  /** Takes what goes into the next entry. */
  take(): readonly Transition[] {
    const taken = this.transitions.slice(0, this.fitting());
    const rest = this.transitions.slice(taken.length);
    this.transitions = [];
    this.last.clear();
    for (const transition of rest) this.add(transition);
    return taken;
  }

  /** How many of them fit into an entry; one always does. */
  private fitting(): number {
    let bytes = 0;
    for (const [count, transition] of this.transitions.entries()) {
      bytes += byteLength(transition);
      if (count > 0 && (count >= MAX_ENTRY_TRANSITIONS || bytes > MAX_ENTRY_BYTES)) return count;
    }
    return this.transitions.length;
  }
}

function merged(earlier: Transition, later: Transition): Transition {
  const { previousData: _between, ...now } = later;
  return { ...now, ...(earlier.previousData !== undefined && { previousData: earlier.previousData }) };
}
