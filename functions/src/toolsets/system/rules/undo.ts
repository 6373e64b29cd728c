/** Taking back what calls have changed. Source: docs/decisions/0036-trail.md; docs/semantics.md#taking-back. */
import { type Caller, type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { AnyChange, CallRecord, RecordAnswer, Store, Versioned } from '../../../kernel/commit.ts';
import { cannotUndo, thingKey } from '../../../kernel/effects.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { LooseningError } from '../../../kernel/loosening.ts';
import type { Position } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import type { Effect, TrailEntry } from '../../../kernel/trail.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { maySee, ownOf, type TrailFilter, type TrailPorts } from './audit.ts';

/**
 * The changes that take an effect back, with the versions that they were decided on. What no commit of the server may
 * write is written here, as the caller.
 * @param together all effects of the same event: some make sense only with others
 * @throws MusterError CONFLICT, with the reason CHANGED_SINCE or CANNOT_BE_UNDONE, or whatever else stands against it
 */
export type Inverse<Change> = (
  effect: Effect,
  by: Principal,
  caller: Caller,
  together: readonly Effect[],
) => Promise<readonly Change[]>;

/** How many events one call takes back. */
export const MAX_UNDONE = 50;

/** One call looks at this many events, and stops after the one that brings it to this many refused things. */
export const MAX_LOOKED_AT = 200;

const MAX_REFUSED = 500;

/** A call that takes back a part of an event leaves an entry that names no event, so undos are known by their tool. */
const UNDO_TOOL = 'system.undo';

/** What of an event was not taken back. */
export interface Refused {
  readonly eventId: string;
  readonly effect: Effect;
  readonly error: MusterError;
  /** The event that has changed the thing since, where a call did. */
  readonly since?: TrailEntry | undefined;
}

export interface Undone {
  readonly events: readonly string[];
  readonly things: readonly Effect[];
  readonly refused: readonly Refused[];
  /** Whether there are older events that were not looked at. */
  readonly more: boolean;
  /** The last event that was looked at, if there are older ones. */
  readonly last?: Position | undefined;
}

interface UndoPorts<Change extends AnyChange> extends Omit<TrailPorts, 'store'> {
  readonly store: Store<Change>;
  /** By the kind of thing. What is not named cannot be taken back. */
  readonly inverses: Readonly<Record<string, Inverse<Change>>>;
  /** Why, in a sentence, by the kind of thing. */
  readonly irrevocable: Readonly<Record<string, string>>;
}

/** What is to be done to take an event back, and what of it cannot be. */
interface Plan<Change> extends Pick<Undone, 'things' | 'refused'> {
  readonly changes: readonly Change[];
}

export class Undoing<Change extends AnyChange> extends Service<UndoPorts<Change>> {
  /**
   * Takes back what one event has changed: in one commit, and part by part where something stands against a part.
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where all of it is refused, or it was taken back before
   */
  event(caller: Caller, id: string, recordAnswer: RecordAnswer<Undone>): Promise<Undone> {
    const { principal } = caller;
    return retryStale(this.ports.randomness, async () => {
      const found = await this.ports.trail.find(id);
      if (found === undefined || !isVisible(principal, found.value)) throw noEvent(id);
      requireMayUndo(principal, found.value);
      if (found.value.undone_by !== undefined) throw alreadyUndone(found.value);
      const { changes, things, refused } = await this.plan(caller, found.value);
      const [first] = refused;
      if (first !== undefined && things.length === 0) throw explained(first);
      const undone = { events: [id], things, refused, more: false };
      await this.commit(found, changes, refused, recordAnswer(undone));
      return undone;
    });
  }

  /** Takes back events, newest first. Those taken back are not read and refused ones not counted, so that repeated calls end. */
  async several(
    caller: Caller,
    filter: TrailFilter,
    after: Position | undefined,
    recordAnswer: RecordAnswer<Undone>,
  ): Promise<Undone> {
    const all = { events: [] as string[], things: [] as Effect[], refused: [] as Refused[] };
    const by = recordAnswer({ ...all, more: false })?.by;
    const isFull = () => all.events.length >= MAX_UNDONE || all.refused.length >= MAX_REFUSED;
    let [last, more, looked] = [after, true, 0];
    while (more && !isFull() && looked < MAX_LOOKED_AT) {
      const page = await this.ports.trail.list(
        { ...filter, stands: true },
        { limit: MAX_UNDONE, ...(last && { after: last }) },
      );
      for (const [place, entry] of page.items.entries()) {
        await this.addOne(caller, entry, by, all);
        last = { at: entry.at, id: entry.id };
        looked++;
        more = page.more || place < page.items.length - 1;
        if (isFull()) break;
      }
      if (page.items.length === 0) more = false;
    }
    const undone = { ...all, more, ...(more && { last }) };
    await this.ports.store.commit([], recordAnswer(undone));
    return undone;
  }

  private async addOne(
    caller: Caller,
    entry: TrailEntry,
    by: CallRecord['by'],
    all: { readonly events: string[]; readonly things: Effect[]; readonly refused: Refused[] },
  ): Promise<void> {
    if (entry.undoes !== undefined || entry.by.tool === UNDO_TOOL) return;
    const { things, refused } = await this.oneOfSeveral(caller, entry, by);
    if (things.length > 0) all.events.push(entry.id);
    // What several events have changed is as it was once.
    all.things.push(...things.filter((one) => !all.things.some((known) => isSame(one, known))));
    all.refused.push(...refused);
  }

  private oneOfSeveral(caller: Caller, { id }: TrailEntry, by: CallRecord['by']): Promise<Plan<Change>> {
    return retryStale(this.ports.randomness, async () => {
      const found = await this.ports.trail.find(id);
      if (found === undefined || found.value.undone_by !== undefined)
        return { changes: [], things: [], refused: [] };
      requireMayUndo(caller.principal, found.value);
      const plan = await this.plan(caller, found.value);
      if (plan.things.length === 0) return plan;
      try {
        await this.commit(found, plan.changes, plan.refused, { by });
        return plan;
      } catch (error) {
        if (!(error instanceof LooseningError)) throw error;
        // Alone, this event can be undone with an approval; here it does not stop the others.
        const refused = plan.things.map((effect) => ({ eventId: id, effect, error }));
        return { changes: [], things: [], refused: [...plan.refused, ...refused] };
      }
    });
  }

  private async commit(
    { value: { id }, version }: Versioned<TrailEntry>,
    changes: readonly Change[],
    refused: readonly Refused[],
    record: CallRecord | undefined,
  ): Promise<void> {
    // What was taken back in part may be taken back further.
    const undoes = refused.length === 0 ? { id, version } : undefined;
    // What is at a version is written first: another part may tell the same thing something in the same commit.
    const ordered = changes.toSorted((one, other) => Number('version' in other) - Number('version' in one));
    await this.ports.store.commit(ordered, record && { ...record, ...(undoes && { undoes }) });
  }

  /** The last that was done is taken back first. */
  private async plan(caller: Caller, entry: TrailEntry): Promise<Plan<Change>> {
    const plan = { changes: [] as Change[], things: [] as Effect[], refused: [] as Refused[] };
    for (const effect of entry.effects.toReversed()) {
      if (!maySee(caller.principal, entry, effect)) continue;
      try {
        plan.changes.push(...(await this.invert(effect, caller, entry.effects)));
        plan.things.push(effect);
      } catch (error) {
        if (!(error instanceof MusterError)) throw error;
        const since = await this.changedSince(caller.principal, entry, effect);
        plan.refused.push({ eventId: entry.id, effect, error, since });
      }
    }
    return plan;
  }

  private async invert(
    effect: Effect,
    caller: Caller,
    together: readonly Effect[],
  ): Promise<readonly Change[]> {
    const { inverses, irrevocable } = this.ports;
    const inverse = inverses[effect.kind];
    if (inverse === undefined)
      throw cannotUndo(effect, irrevocable[effect.kind] ?? 'Nothing is known that would.');
    return inverse(effect, caller.principal, caller, together);
  }

  /** The latest call that has changed the thing after the event. */
  private async changedSince(
    principal: Principal,
    { id, at }: TrailEntry,
    effect: Effect,
  ): Promise<TrailEntry | undefined> {
    const { workspace } = effect;
    // What belongs to no workspace is the caller's owner's: nobody else sees it.
    const whose = workspace === undefined ? ownOf(principal) : { workspace };
    const filter = { whose, narrowed: { thing: thingKey(effect) }, since: at };
    const [latest] = (await this.ports.trail.list(filter, { limit: 2 })).items;
    return latest?.id === id ? undefined : latest;
  }
}

function isVisible(principal: Principal, entry: TrailEntry): boolean {
  return entry.effects.some((effect) => maySee(principal, entry, effect));
}

/** People undo what was done for them, agents what they did, leaders what anybody did to what is their workspace's. */
function requireMayUndo(principal: Principal, { id, by, effects }: TrailEntry): void {
  if (by.uid === principal.uid) return;
  if (by.owner_uid === principal.owner_uid && principal.kind === 'person') return;
  const leads = ({ workspace }: Effect): boolean => {
    const role = workspace === undefined ? undefined : roleIn(principal, workspace);
    return role !== undefined && hasRole(role, 'leader');
  };
  if (effects.every(leads)) return;
  throw new MusterError('FORBIDDEN', `The event "${id}" was another's, "${by.agent_id ?? by.uid}".`, {
    field: 'event_id',
    value: id,
    reason: 'NOT_YOURS',
    suggestion:
      'An agent takes back what it did itself, a person what was done for them, and a leader of a workspace what was done in it.',
  });
}

function noEvent(id: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no event "${id}" that you may see.`, {
    field: 'event_id',
    value: id,
    suggestion: 'system.getAudit lists events with their ids.',
  });
}

function alreadyUndone({ id, undone_by }: TrailEntry): MusterError {
  return new MusterError('CONFLICT', `The event "${id}" was taken back already, by "${undone_by}".`, {
    field: 'event_id',
    value: id,
    reason: 'ALREADY_UNDONE',
    suggestion: 'Take that one back to have it as it was in between.',
  });
}

/** The refusal with who has changed the thing since. */
function explained({ error, since }: Refused): MusterError {
  if (since === undefined) return error;
  const { by, at, id } = since;
  const who = `"${by.agent_id ?? by.uid}" by ${by.tool} at ${at.toISOString()} (event "${id}")`;
  return new MusterError(error.code, `${error.message} The latest change was by ${who}.`, error.details);
}

function isSame(one: Effect, other: Effect): boolean {
  return one.kind === other.kind && one.id === other.id;
}
