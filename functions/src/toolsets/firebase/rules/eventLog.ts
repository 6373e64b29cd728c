/**
 * The event log of a subscription: a sequence of entries, numbered from 1 without gaps. An entry is appended only if
 * no entry has its number, so the log stays consistent even if several instances append at the same time.
 */
import { byteLength } from '../../../kernel/json.ts';
import { DAY_MS } from '../../../kernel/ports.ts';
import type { EntrySize, Lease } from './ports.ts';
import type { Transition } from './transition.ts';

export const MAX_ENTRY_TRANSITIONS = 100;
const MAX_ENTRY_BYTES = 262_144;

/** Transitions that are not in the log yet. Successive changes of one key are combined; other transitions are not. */
export class Pending {
  private transitions: Transition[] = [];
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

  take(): readonly Transition[] {
    const taken = this.transitions.slice(0, this.fitting());
    const rest = this.transitions.slice(taken.length);
    this.transitions = [];
    this.last.clear();
    for (const transition of rest) this.add(transition);
    return taken;
  }

  /** Returns the number of transitions that fit in one entry. The first transition always fits. */
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

/** Interval in milliseconds at which a watch with readers renews its lease on the log. */
export const LEASE_RENEWAL_MS = 5000;

/** Time in milliseconds without a renewal, after which another instance may take the lease. */
const LEASE_STALE_MS = 15_000;

/** Returns whether a holder may take the lease: if it is free, expired, the holder's own, or held without readers. */
export function canTakeLease(lease: Lease | undefined, holder: string, now: Date): boolean {
  if (lease === undefined || lease.holder === holder || !lease.reading) return true;
  return now.getTime() - lease.renewed.getTime() > LEASE_STALE_MS;
}

/** Old entries are deleted before a log has 1000 events, so a new entry always fits. */
const TRIM_ABOVE = 900;
const TRIM_TO = 800;
const MAX_BYTES = 4 * 1_048_576;
const MAX_AGE_MS = DAY_MS;

/** A checkpoint is due after this many transitions. Loading a log reads all entries after its last checkpoint. */
const CHECKPOINT_TRANSITIONS = 500;
const CHECKPOINT_BYTES = { min: 262_144, max: 2 * 1_048_576 };

/** @param since entries after the last checkpoint @param stateBytes size of the next checkpoint */
export function isCheckpointDue(since: readonly EntrySize[], stateBytes: number): boolean {
  const { transitions, bytes } = total(since);
  const worth = Math.min(Math.max(CHECKPOINT_BYTES.min, stateBytes), CHECKPOINT_BYTES.max);
  return transitions >= CHECKPOINT_TRANSITIONS || bytes >= worth;
}

/** Returns the entries to delete, oldest first. @param covered last entry that the checkpoint includes */
export function outdated(entries: readonly EntrySize[], covered: number, now: Date): readonly number[] {
  const all = total(entries);
  const isFull = all.events > TRIM_ABOVE || all.bytes > MAX_BYTES;
  const dropped: number[] = [];
  for (const entry of entries) {
    const isOld = now.getTime() - entry.at > MAX_AGE_MS;
    const isTooMuch = isFull && (all.events > TRIM_TO || all.bytes > MAX_BYTES);
    if (entry.sequence > covered || !(isOld || isTooMuch)) break;
    dropped.push(entry.sequence);
    all.events -= entry.events;
    all.bytes -= entry.bytes;
  }
  return dropped;
}

function total(entries: readonly EntrySize[]): { transitions: number; events: number; bytes: number } {
  const sum = { transitions: 0, events: 0, bytes: 0 };
  for (const { transitions, events, bytes } of entries) {
    sum.transitions += transitions;
    sum.events += events;
    sum.bytes += bytes;
  }
  return sum;
}
