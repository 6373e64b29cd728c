/** Undoes the changes of calls. Source: docs/decisions/0036-trail.md; docs/semantics.md#undo. */
import { type Caller, hasRoleIn, type Principal } from '../../../identity/rules/principal.ts';
import type { AuditEffect, AuditEntry } from '../../../kernel/auditLog.ts';
import type { AnyChange, CallRecord, RecordResponse, Store, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { cannotUndoError, itemKey } from '../../../kernel/effects.ts';
import { MusterError, notFound } from '../../../kernel/errors.ts';
import { LooseningError } from '../../../kernel/loosening.ts';
import type { TimeCursor } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import { type AuditFilter, type AuditLogPorts, canSee, ownOf } from './audit.ts';

/**
 * Returns the changes that undo one effect of an event, with the versions that they require. The handler itself does
 * the writes that a server commit cannot contain, with the caller's rights.
 * @param together all effects of the event, because some can only be undone together
 * @throws MusterError CONFLICT with the reason CHANGED_SINCE or CANNOT_BE_UNDONE, or another error that prevents undo
 */
export type UndoHandler<Change> = (
  effect: AuditEffect,
  by: Principal,
  caller: Caller,
  together: readonly AuditEffect[],
) => Promise<readonly Change[]>;

export const MAX_UNDONE = 50;

/** Maximum number of events that one call reads. After MAX_REFUSED refusals, the call stops earlier. */
export const MAX_CHECKED = 200;
const MAX_REFUSED = 500;

/** The entry of a partial undo has no `undoes`, so entries of undo calls are recognized by their tool. */
const UNDO_TOOL = 'system.undo';

export interface RefusedUndo {
  readonly eventId: string;
  readonly effect: AuditEffect;
  readonly error: MusterError;
  /** The latest call that changed the item after the event, if there was one. */
  readonly since?: AuditEntry | undefined;
}

export interface Undone {
  readonly events: readonly string[];
  readonly things: readonly AuditEffect[];
  readonly refused: readonly RefusedUndo[];
  /** Whether older events remain that were not read. */
  readonly more: boolean;
  /** The last event that was read, if older events remain. */
  readonly last?: TimeCursor | undefined;
}

interface UndoPorts<Change extends AnyChange> extends Omit<AuditLogPorts, 'store'> {
  readonly store: Store<Change>;
  /** Undo functions by kind of item. Changes of other kinds cannot be undone. */
  readonly inverses: Readonly<Record<string, UndoHandler<Change>>>;
  /** Sentences that explain why changes cannot be undone, by kind of item. */
  readonly irrevocable: Readonly<Record<string, string>>;
}

interface Plan<Change> extends Pick<Undone, 'things' | 'refused'> {
  readonly changes: readonly Change[];
}

export class UndoService<Change extends AnyChange> extends Service<UndoPorts<Change>> {
  /**
   * Undoes one event in one commit. If only some of its effects can be undone, the others stay.
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT if no effect can be undone or the event was already undone
   */
  undoEvent(caller: Caller, id: string, recordResponse: RecordResponse<Undone>): Promise<Undone> {
    const { principal } = caller;
    return retryOnConflict(this.ports.randomness, async () => {
      const found = await this.ports.trail.find(id);
      const isVisible = found?.value.effects.some((effect) => canSee(principal, found.value, effect));
      if (found === undefined || !isVisible)
        throw notFound('Event', { event_id: id }, 'system.getAudit lists events with their ids.');
      requireUndoable(principal, found.value);
      const { undone_by } = found.value;
      if (undone_by !== undefined)
        throw new MusterError('CONFLICT', `The event "${id}" was already undone, by event "${undone_by}".`, {
          field: 'event_id',
          value: id,
          reason: 'ALREADY_UNDONE',
          suggestion: 'To apply the change again, undo that later event.',
        });
      const { changes, things, refused } = await this.plan(caller, found.value);
      const [first] = refused;
      if (first !== undefined && things.length === 0) throw explainedRefusal(first);
      const undone = { events: [id], things, refused, more: false };
      await this.commit(found, changes, refused, recordResponse(undone));
      return undone;
    });
  }

  /** Undoes events, newest first, up to a maximum. Skips events already undone, so that repeated calls advance. */
  async undoSeveral(
    caller: Caller,
    filter: AuditFilter,
    after: TimeCursor | undefined,
    recordResponse: RecordResponse<Undone>,
  ): Promise<Undone> {
    const all = { events: [] as string[], things: [] as AuditEffect[], refused: [] as RefusedUndo[] };
    const by = recordResponse({ ...all, more: false })?.by;
    const isFull = () => all.events.length >= MAX_UNDONE || all.refused.length >= MAX_REFUSED;
    let [last, more, looked] = [after, true, 0];
    while (more && !isFull() && looked < MAX_CHECKED) {
      const page = await this.ports.trail.list(
        { ...filter, notUndone: true },
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
    await this.ports.store.commit([], recordResponse(undone));
    return undone;
  }

  private async addOne(
    caller: Caller,
    entry: AuditEntry,
    by: CallRecord['by'],
    all: { readonly events: string[]; readonly things: AuditEffect[]; readonly refused: RefusedUndo[] },
  ): Promise<void> {
    if (entry.undoes !== undefined || entry.by.tool === UNDO_TOOL) return;
    const { things, refused } = await this.oneOfSeveral(caller, entry, by);
    if (things.length > 0) all.events.push(entry.id);
    // An item that several of the events changed is listed once.
    all.things.push(...things.filter((one) => !all.things.some(({ kind, id }) => one.kind === kind && one.id === id)));
    all.refused.push(...refused);
  }

  private oneOfSeveral(caller: Caller, { id }: AuditEntry, by: CallRecord['by']): Promise<Plan<Change>> {
    return retryOnConflict(this.ports.randomness, async () => {
      const found = await this.ports.trail.find(id);
      if (found === undefined || found.value.undone_by !== undefined) return { changes: [], things: [], refused: [] };
      requireUndoable(caller.principal, found.value);
      const plan = await this.plan(caller, found.value);
      if (plan.things.length === 0) return plan;
      try {
        await this.commit(found, plan.changes, plan.refused, { by });
        return plan;
      } catch (error) {
        if (!(error instanceof LooseningError)) throw error;
        // A single undo would ask a person for approval. This undo is refused, so that the other events are undone.
        const refused = plan.things.map((effect) => ({ eventId: id, effect, error }));
        return { changes: [], things: [], refused: [...plan.refused, ...refused] };
      }
    });
  }

  private async commit(
    { value: { id }, version }: Versioned<AuditEntry>,
    changes: readonly Change[],
    refused: readonly RefusedUndo[],
    record: CallRecord | undefined,
  ): Promise<void> {
    // An event that was only partly undone stays open for undo.
    const undoes = refused.length === 0 ? { id, version } : undefined;
    // Writes that require a version come first, because later writes of this commit may change the same document.
    const ordered = changes.toSorted((one, other) => Number('version' in other) - Number('version' in one));
    await this.ports.store.commit(ordered, record && { ...record, ...(undoes && { undoes }) });
  }

  /** Plans the undo of an event's effects, last effect first. */
  private async plan(caller: Caller, entry: AuditEntry): Promise<Plan<Change>> {
    const { inverses, irrevocable } = this.ports;
    const plan = { changes: [] as Change[], things: [] as AuditEffect[], refused: [] as RefusedUndo[] };
    for (const effect of entry.effects.toReversed()) {
      if (!canSee(caller.principal, entry, effect)) continue;
      try {
        const inverse = inverses[effect.kind];
        if (inverse === undefined)
          throw cannotUndoError(effect, irrevocable[effect.kind] ?? 'Undo does not support this kind of change.');
        plan.changes.push(...(await inverse(effect, caller.principal, caller, entry.effects)));
        plan.things.push(effect);
      } catch (error) {
        if (!(error instanceof MusterError)) throw error;
        const since = await this.changedSince(caller.principal, entry, effect);
        plan.refused.push({ eventId: entry.id, effect, error, since });
      }
    }
    return plan;
  }

  /** Returns the latest call that changed the item after the event, if the caller may see that call. */
  private async changedSince(
    principal: Principal,
    { id, at }: AuditEntry,
    effect: AuditEffect,
  ): Promise<AuditEntry | undefined> {
    const { workspace } = effect;
    // Changes of items without a workspace are visible only to the caller's owner.
    const whose = workspace === undefined ? ownOf(principal) : { workspace };
    const filter = { whose, narrowed: { thing: itemKey(effect) }, since: at };
    const [latest] = (await this.ports.trail.list(filter, { limit: 2 })).items;
    return latest?.id === id ? undefined : latest;
  }
}

/** People may undo changes made on their behalf, agents their own, and leaders all changes in their workspace. */
function requireUndoable(principal: Principal, { id, by, effects }: AuditEntry): void {
  if (by.uid === principal.uid) return;
  if (by.owner_uid === principal.owner_uid && principal.kind === 'person') return;
  if (effects.every(({ workspace }) => workspace !== undefined && hasRoleIn(principal, workspace, 'leader'))) return;
  throw new MusterError('FORBIDDEN', `You cannot undo the event "${id}" by "${by.agent_id ?? by.uid}".`, {
    field: 'event_id',
    value: id,
    reason: 'NOT_YOURS',
    suggestion: 'People can undo changes made for them, agents their own changes, and leaders all in the workspace.',
  });
}

/** Returns the error of the refusal. Its message also names the call that changed the item after the event. */
function explainedRefusal({ error, since }: RefusedUndo): MusterError {
  if (since === undefined) return error;
  const { by, at, id } = since;
  const who = `"${by.agent_id ?? by.uid}" with ${by.tool} at ${at.toISOString()} (event "${id}")`;
  return new MusterError(error.code, `${error.message} The latest change was made by ${who}.`, error.details);
}
