/**
 * Budgets as Firestore keeps them. `budgets/{kind-id}` says how much may be spent, and changes when somebody says so;
 * `budgets/{kind-id}/counts/1` has what is spent and reserved, and changes with every call that it holds for.
 * `reservations/{id}` is what a call in flight has reserved: whoever deletes it settles it, once.
 */
import { z } from 'zod';
import type { Versioned } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/firestore/codec.ts';
import { budgetCountsPath, budgetPath, COLLECTIONS, reservationPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader, readDue } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters, CommitWrites } from '../../kernel/firestore/store.ts';
import type { EffectsOf } from '../../kernel/firestore/trail.ts';
import type { Batch, Position } from '../../kernel/paging.ts';
import {
  type Amount,
  BUDGET_KINDS,
  type BudgetChanges,
  budgetKey,
  type CountedBudget,
  isLimited,
  limitFields,
  minus,
} from '../rules/budget.ts';

const codec = documentCodec(
  z.object({
    kind: z.enum(BUDGET_KINDS),
    /** The name of the workspace, or the id of the thing. */
    thing_id: z.string(),
    /** Where it holds; null for a to-do. */
    workspace: z.string().nullable(),
    /** The person for whom it was set, who is asked when it is spent. */
    owner_uid: z.string(),
    /** US dollars; null: no limit. */
    cost_usd: z.number().nullable(),
    /** Of input and output together; null: no limit. */
    tokens: z.int().nullable(),
    /** The uid of the person or agent that set each limit; null without the limit. */
    cost_set_by: z.string().nullable(),
    tokens_set_by: z.string().nullable(),
    /** Counts what was set: a person is asked once for each. */
    round: z.int(),
    set_at: timestamp,
  }),
  { thing_id: 'id' },
);

export const budgetFromDocument = codec.fromDocument;

export type StoredBudget = ReturnType<typeof codec.fromDocument>;

/** Whole numbers; of money billionths of a US dollar. */
const amount = z.object({ nano_usd: z.int().default(0), tokens: z.int().default(0) });

const zero = { nano_usd: 0, tokens: 0 };

const counts = documentCodec(z.object({ spent: amount.default(zero), reserved: amount.default(zero) }));

export const countsFromDocument = counts.fromDocument;

export type StoredCounts = ReturnType<typeof counts.fromDocument>;

const reservations = documentCodec(
  z.object({
    id: z.string(),
    /** The budgets of which it is. */
    keys: z.array(z.string()),
    amount,
    /** The call is over by then, whatever became of it. */
    due_at: timestamp,
  }),
);

export const reservationFromDocument = reservations.fromDocument;

export type StoredReservation = ReturnType<typeof reservations.fromDocument>;

export class BudgetQueries extends FirestoreReader {
  async find(key: string): Promise<Versioned<StoredBudget> | undefined> {
    const snapshot = await this.database.doc(budgetPath(key)).get();
    return this.documents.findVersioned(snapshot, budgetFromDocument);
  }

  /**
   * Those of these that have a limit, in their order. One document for each key, and one for each limit. None that
   * cannot be read is stepped over: it may be spent.
   */
  async limited(keys: readonly string[]): Promise<readonly CountedBudget[]> {
    const found = await this.database.getAll(...keys.map((key) => this.database.doc(budgetPath(key))));
    const limits = found
      .flatMap((snapshot) => this.documents.find(snapshot, budgetFromDocument) ?? [])
      .filter(isLimited);
    return this.counted(limits);
  }

  /** The limits with what is spent and reserved of each. */
  async counted(limits: readonly StoredBudget[]): Promise<readonly CountedBudget[]> {
    if (limits.length === 0) return [];
    const documents = limits.map((limit) => this.database.doc(budgetCountsPath(budgetKey(limit))));
    const snapshots = await this.database.getAll(...documents);
    return limits.flatMap((budget, index) => {
      const snapshot = snapshots[index];
      const found = snapshot && this.documents.find(snapshot, countsFromDocument);
      return { budget, counts: found ?? countsFromDocument({}) };
    });
  }

  /** Reservations of calls that are over by `now`, the longest ago first. */
  due(now: Date, limit: number, after?: Position): Promise<Batch<StoredReservation>> {
    const all = this.database.collection(COLLECTIONS.reservations);
    return readDue(all, 'due_at', { now, limit, after }, (snapshot) =>
      this.documents.readable(snapshot, reservationFromDocument),
    );
  }
}

export const budgetWriters: ChangeWriters<BudgetChanges> = {
  setBudget({ budget, before, spent }, writes) {
    const key = budgetKey(budget);
    writes.createOrReplace(budgetPath(key), codec.toDocument(budget), before?.version);
    if (spent !== undefined)
      writes.merge(budgetCountsPath(key), { spent: { nano_usd: spent.nanoUsd, tokens: spent.tokens } });
  },
  reserve({ reservation }, writes) {
    writes.create(reservationPath(reservation.id), reservations.toDocument(reservation));
    count(reservation.keys, { reserved: reservation.amount }, writes);
  },
  settle({ reservation, spent }, writes) {
    writes.delete(reservationPath(reservation.id), { exists: true });
    count(reservation.keys, { reserved: minus(reservation.amount), spent }, writes);
  },
  spend({ keys, spent }, writes) {
    count(keys, { spent }, writes);
  },
};

function count(
  keys: readonly string[],
  amounts: Readonly<Record<string, Amount>>,
  writes: CommitWrites,
): void {
  const fields = Object.entries(amounts).flatMap(([name, { nanoUsd, tokens }]) => [
    [`${name}.nano_usd`, nanoUsd],
    [`${name}.tokens`, tokens],
  ]);
  for (const key of keys) writes.add(budgetCountsPath(key), Object.fromEntries(fields));
}

export const budgetEffects: EffectsOf<BudgetChanges> = {
  setBudget: ({ budget, before }) => ({
    kind: 'budget',
    id: budgetKey(budget),
    ...(budget.workspace === undefined ? { ownerUid: budget.ownerUid } : { workspace: budget.workspace }),
    ...(before && { before: limitFields(before.value) }),
    after: limitFields(budget),
  }),
};
