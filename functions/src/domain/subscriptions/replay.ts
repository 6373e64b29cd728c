/** What a log says of the watched path. It is a function of the log alone, so every instance finds the same. */
import { byteLength } from '../size.ts';
import type { EventType } from './event.ts';
import type { Entry, EntrySize, LoadedLog } from './log.ts';
import { apply, isEvent } from './transition.ts';

export interface Replayed {
  readonly state: Map<string, string>;
  /** The last entry; 0 where there is none. */
  readonly sequence: number;
  /** The last entry that the checkpoint takes in. */
  readonly covered: number;
  readonly kept: readonly EntrySize[];
}

export function replay(eventType: EventType, { checkpoint, entries }: LoadedLog): Replayed {
  const state = new Map(checkpoint.state);
  for (const { transitions } of entries) {
    for (const transition of transitions) apply(eventType, state, transition);
  }
  return {
    state,
    sequence: entries.at(-1)?.sequence ?? checkpoint.sequence,
    covered: checkpoint.sequence,
    kept: [...checkpoint.kept, ...entries.map((entry) => sizeOf(eventType, entry))],
  };
}

/** What an entry takes beside its JSON, about. */
const ENTRY_BYTES = 200;

export function sizeOf(eventType: EventType, { sequence, transitions }: Entry): EntrySize {
  return {
    sequence,
    transitions: transitions.length,
    events: transitions.filter((transition) => isEvent(eventType, transition)).length,
    bytes: ENTRY_BYTES + byteLength(transitions),
    at: transitions.at(-1)?.at ?? 0,
  };
}
