/** Undoes the changes of calls. Source: docs/decisions/0036-trail.md; docs/semantics.md#undo. */
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
 * Returns the changes that undo an effect, with the versions they are based on. Writes that are not part of a server
 * commit are made here, as the caller.
 * @param together all effects of the event: some can only be undone with others
 * @throws MusterError CONFLICT with the reason CHANGED_SINCE or CANNOT_BE_UNDONE, or another error that prevents undo
 */
export type Inverse<Change> = (
  effect: Effect,
  by: Principal,
  caller: Caller,
  together: readonly Effect[],
) => Promise<readonly Change[]>;

/** Maximum number of events that one call undoes. */
export const MAX_UNDONE = 50;

/** Maximum number of events that one call reads. It stops earlier after MAX_REFUSED refusals. */
export const MAX_LOOKED_AT = 200;

const MAX_REFUSED = 500;

/** A partial undo leaves an entry without `undoes`, so undo entries are recognized by their tool. */
const UNDO_TOOL = 'system.undo';

/** An effect that was not undone. */
export interface Refused {
  readonly eventId: string;
  readonly effect: Effect;
  readonly error: MusterError;
  /** The call that changed the item since the event, if any. */
  readonly since?: TrailEntry | undefined;
}

export interface Undone {
  readonly events: readonly string[];
  readonly things: readonly Effect[];
  readonly refused: readonly Refused[];
  /** Whether there are older events that were not read. */
  readonly more: boolean;
  /** The last event that was read, if there are older ones. */
  readonly last?: Position | undefined;
}

interface UndoPorts<Change extends AnyChange> extends Omit<TrailPorts, 'store'> {
  readonly store: Store<Change>;
  /** Undo functions by kind of item. Other kinds cannot be undone. */
  readonly inverses: Readonly<Record<string, Inverse<Change>>>;
  /** Reasons by kind of item, each a sentence. */
  readonly irrevocable: Readonly<Record<string, string>>;
}

/** The changes that undo an event, and the effects that cannot be undone. */
interface Plan<Change> extends Pick<Undone, 'things' | 'refused'> {
  readonly changes: readonly Change[];
}

export class Undoing<Change extends AnyChange> extends Service<UndoPorts<Change>> {
  /**
   * Undoes one event, in one commit; if parts are refused, only the others.
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT if everything is refused or the event was already undone
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

  /** Undoes events, newest first. Skips undone ones and does not count refused ones, so repeated calls terminate. */
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
    // An item that several events changed is listed once.
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
        // This event can be undone on its own, with an approval. Here it must not stop the others.
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
    // A partly undone event can be undone further.
    const undoes = refused.length === 0 ? { id, version } : undefined;
    // Versioned writes come first: another part may update the same document in this commit.
    const ordered = changes.toSorted((one, other) => Number('version' in other) - Number('version' in one));
    await this.ports.store.commit(ordered, record && { ...record, ...(undoes && { undoes }) });
  }

  /** The last effect is undone first. */
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
      throw cannotUndo(effect, irrevocable[effect.kind] ?? 'Undo does not support this kind of change.');
    return inverse(effect, caller.principal, caller, together);
  }

  /** Returns the latest call that changed the item after the event. */
  private async changedSince(
    principal: Principal,
    { id, at }: TrailEntry,
    effect: Effect,
  ): Promise<TrailEntry | undefined> {
    const { workspace } = effect;
    // Items without a workspace are visible only to the caller's owner.
    const whose = workspace === undefined ? ownOf(principal) : { workspace };
    const filter = { whose, narrowed: { thing: thingKey(effect) }, since: at };
    const [latest] = (await this.ports.trail.list(filter, { limit: 2 })).items;
    return latest?.id === id ? undefined : latest;
  }
}

function isVisible(principal: Principal, entry: TrailEntry): boolean {
  return entry.effects.some((effect) => maySee(principal, entry, effect));
}

/** People undo changes on their behalf, agents their own changes, leaders all changes in their workspace. */
function requireMayUndo(principal: Principal, { id, by, effects }: TrailEntry): void {
  if (by.uid === principal.uid) return;
  if (by.owner_uid === principal.owner_uid && principal.kind === 'person') return;
  const leads = ({ workspace }: Effect): boolean => {
    const role = workspace === undefined ? undefined : roleIn(principal, workspace);
    return role !== undefined && hasRole(role, 'leader');
  };
  if (effects.every(leads)) return;
  throw new MusterError('FORBIDDEN', `You cannot undo the event "${id}" by "${by.agent_id ?? by.uid}".`, {
    field: 'event_id',
    value: id,
    reason: 'NOT_YOURS',
    suggestion:
      'Agents undo their own changes, people those made for them, and leaders those in their workspace.',
  });
}

function noEvent(id: string): MusterError {
  return new MusterError('NOT_FOUND', `Event "${id}" not found.`, {
    field: 'event_id',
    value: id,
    suggestion: 'system.getAudit lists events with their ids.',
  });
}

function alreadyUndone({ id, undone_by }: TrailEntry): MusterError {
  return new MusterError('CONFLICT', `The event "${id}" was already undone, by event "${undone_by}".`, {
    field: 'event_id',
    value: id,
    reason: 'ALREADY_UNDONE',
    suggestion: 'To redo it, undo that event.',
  });
}

/** Returns the refusal, extended by the call that changed the item since. */
function explained({ error, since }: Refused): MusterError {
  if (since === undefined) return error;
  const { by, at, id } = since;
  const who = `"${by.agent_id ?? by.uid}" by ${by.tool} at ${at.toISOString()} (event "${id}")`;
  return new MusterError(error.code, `${error.message} The latest change was by ${who}.`, error.details);
}

function isSame(one: Effect, other: Effect): boolean {
  return one.kind === other.kind && one.id === other.id;
}
