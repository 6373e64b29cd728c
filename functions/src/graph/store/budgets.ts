/**
 * Storage of budgets in Firestore. `budgets/{kind-id}` has the limits. `budgets/{kind-id}/counts/1` has the spent and
 * reserved amounts, which change with every call. `reservations/{id}` is the reservation of a running call. A
 * reservation is settled by deleting it, which succeeds only once.
 */
import type { Versioned } from '../../kernel/commit.ts';
import { budgetCountsPath, budgetPath, COLLECTIONS, reservationPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader, readDue } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters, CommitWrites, EffectsOf } from '../../kernel/firestore/store.ts';
import type { SweepBatch, TimeCursor } from '../../kernel/paging.ts';
import {
  type Amount,
  type Budget,
  type BudgetChanges,
  budgetFromDocument,
  budgetKey,
  budgetToDocument,
  type CountedBudget,
  countsFromDocument,
  isLimited,
  limitFields,
  minus,
  type Reservation,
  reservationFromDocument,
  reservationToDocument,
} from '../rules/budget.ts';
import type { BudgetQueries } from '../rules/ports.ts';

export class FirestoreBudgetQueries extends FirestoreReader implements BudgetQueries {
  async find(key: string): Promise<Versioned<Budget> | undefined> {
    const snapshot = await this.database.doc(budgetPath(key)).get();
    return this.documents.findVersioned(snapshot, budgetFromDocument);
  }

  async limited(keys: readonly string[]): Promise<readonly CountedBudget[]> {
    const found = await this.database.getAll(...keys.map((key) => this.database.doc(budgetPath(key))));
    const limits = found
      .flatMap((snapshot) => this.documents.find(snapshot, budgetFromDocument) ?? [])
      .filter(isLimited);
    return this.counted(limits);
  }

  async counted(limits: readonly Budget[]): Promise<readonly CountedBudget[]> {
    if (limits.length === 0) return [];
    const documents = limits.map((limit) => this.database.doc(budgetCountsPath(budgetKey(limit))));
    const snapshots = await this.database.getAll(...documents);
    return limits.flatMap((budget, index) => {
      const snapshot = snapshots[index];
      const found = snapshot && this.documents.find(snapshot, countsFromDocument);
      return { budget, counts: found ?? countsFromDocument({}) };
    });
  }

  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Reservation>> {
    const all = this.database.collection(COLLECTIONS.reservations);
    return readDue(all, 'due_at', { now, limit, after }, (snapshot) =>
      this.documents.readable(snapshot, reservationFromDocument),
    );
  }
}

export const budgetWriters: ChangeWriters<BudgetChanges> = {
  setBudget({ budget, before, spent }, writes) {
    const key = budgetKey(budget);
    writes.createOrReplace(budgetPath(key), budgetToDocument(budget), before?.version);
    if (spent !== undefined)
      writes.merge(budgetCountsPath(key), { spent: { nano_usd: spent.nano_usd, tokens: spent.tokens } });
  },
  reserve({ reservation }, writes) {
    writes.create(reservationPath(reservation.id), reservationToDocument(reservation));
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

function count(keys: readonly string[], amounts: Readonly<Record<string, Amount>>, writes: CommitWrites): void {
  const fields = Object.entries(amounts).flatMap(([name, { nano_usd, tokens }]) => [
    [`${name}.nano_usd`, nano_usd],
    [`${name}.tokens`, tokens],
  ]);
  for (const key of keys) writes.add(budgetCountsPath(key), Object.fromEntries(fields));
}

export const budgetEffects: EffectsOf<BudgetChanges> = {
  setBudget: ({ budget, before }) => ({
    kind: 'budget',
    id: budgetKey(budget),
    ...(budget.workspace === undefined ? { owner_uid: budget.owner_uid } : { workspace: budget.workspace }),
    ...(before && { before: limitFields(before.value) }),
    after: limitFields(budget),
  }),
};
