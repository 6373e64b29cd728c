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
import * as rules from '../rules/budget.ts';
import type { BudgetQueries } from '../rules/ports.ts';

export class FirestoreBudgetQueries extends FirestoreReader implements BudgetQueries {
  async find(key: string): Promise<Versioned<rules.Budget> | undefined> {
    const snapshot = await this.database.doc(budgetPath(key)).get();
    return this.documents.findVersioned(snapshot, rules.budgetFromDocument);
  }

  async limited(keys: readonly string[]): Promise<readonly rules.CountedBudget[]> {
    const found = await this.documentsAt(keys.map(budgetPath));
    const limits = found
      .flatMap((snapshot) => this.documents.find(snapshot, rules.budgetFromDocument) ?? [])
      .filter(rules.isLimited);
    return this.counted(limits);
  }

  async counted(limits: readonly rules.Budget[]): Promise<readonly rules.CountedBudget[]> {
    const snapshots = await this.documentsAt(limits.map((limit) => budgetCountsPath(rules.budgetKey(limit))));
    return limits.flatMap((budget, index) => {
      const snapshot = snapshots[index];
      const found = snapshot && this.documents.find(snapshot, rules.countsFromDocument);
      return { budget, counts: found ?? rules.countsFromDocument({}) };
    });
  }

  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<rules.Reservation>> {
    const all = this.database.collection(COLLECTIONS.reservations);
    return readDue(all, 'due_at', { now, limit, after }, (snapshot) =>
      this.documents.readable(snapshot, rules.reservationFromDocument),
    );
  }
}

export const budgetWriters: ChangeWriters<rules.BudgetChanges> = {
  setBudget({ budget, before, spent }, writes) {
    const key = rules.budgetKey(budget);
    writes.createOrReplace(budgetPath(key), rules.budgetToDocument(budget), before?.version);
    if (spent !== undefined)
      writes.merge(budgetCountsPath(key), { spent: { nano_usd: spent.nano_usd, tokens: spent.tokens } });
  },
  reserve({ reservation }, writes) {
    writes.create(reservationPath(reservation.id), rules.reservationToDocument(reservation));
    count(reservation.keys, { reserved: reservation.amount }, writes);
  },
  settle({ reservation, spent }, writes) {
    writes.delete(reservationPath(reservation.id), { exists: true });
    count(reservation.keys, { reserved: rules.minus(reservation.amount), spent }, writes);
  },
  spend({ keys, spent }, writes) {
    count(keys, { spent }, writes);
  },
};

function count(keys: readonly string[], amounts: Readonly<Record<string, rules.Amount>>, writes: CommitWrites): void {
  const fields = Object.entries(amounts).flatMap(([name, { nano_usd, tokens }]) => [
    [`${name}.nano_usd`, nano_usd],
    [`${name}.tokens`, tokens],
  ]);
  for (const key of keys) writes.add(budgetCountsPath(key), Object.fromEntries(fields));
}

export const budgetEffects: EffectsOf<rules.BudgetChanges> = {
  setBudget: ({ budget, before }) => ({
    kind: 'budget',
    id: rules.budgetKey(budget),
    ...(budget.workspace === undefined ? { owner_uid: budget.owner_uid } : { workspace: budget.workspace }),
    ...(before && { before: rules.limitFields(before.value) }),
    after: rules.limitFields(budget),
  }),
};
