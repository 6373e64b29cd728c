/**
 * Minimal claim of a task: one query and one update from this process. The baseline has no conflicts: each worker has
 * separate tasks, and the update only has a precondition. Transactions on one shared queue wait for each other's locks.
 * Beating those would prove nothing, so they are only reported.
 */
import type { Firestore, Query } from '@google-cloud/firestore';

export interface BareQueue {
  /** Creates a new queue with tasks. */
  fill(): Promise<void>;
  /** Each claims one of the worker's own tasks and returns its id, or undefined if none is left. */
  readonly workers: readonly (() => Promise<string | undefined>)[];
  left(): Promise<number>;
  /** Claims in transactions on the whole queue. */
  contendedPerSecond(seconds: number): Promise<number>;
}

/** Maximum size of a write batch. */
const BATCH = 500;

/** Enough attempts that no transaction gives up during the measurement. */
const ATTEMPTS = 1000;

export function bareQueue(
  firestore: Firestore,
  { workers, tasks }: { readonly workers: number; readonly tasks: number },
): BareQueue {
  let queues = 0;
  const queue = () => firestore.collection(`queue${queues}`);
  const available = (): Query => queue().where('status', '==', 'available');
  const first = (query: Query): Query => query.orderBy('priority').orderBy('created_at').limit(1);

  const claimOwn = async (worker: number): Promise<string | undefined> => {
    const [found] = (await first(available().where('worker', '==', worker)).get()).docs;
    if (found === undefined) return undefined;
    await found.ref.update({ status: 'claimed', claimed_by: worker }, { lastUpdateTime: found.updateTime });
    return found.id;
  };

  const claimAny = (worker: number): Promise<string | undefined> =>
    firestore.runTransaction(
      async (transaction) => {
        const [found] = (await transaction.get(first(available()))).docs;
        if (found !== undefined) transaction.update(found.ref, { status: 'claimed', claimed_by: worker });
        return found?.id;
      },
      { maxAttempts: ATTEMPTS },
    );

  return {
    async fill() {
      queues++;
      for (let made = 0; made < tasks; made += BATCH) {
        const batch = firestore.batch();
        for (let number = made; number < Math.min(tasks, made + BATCH); number++) {
          const task = { status: 'available', priority: 1 + (number % 10), created_at: new Date() };
          batch.create(queue().doc(), { ...task, description: `Task ${number}`, worker: number % workers });
        }
        await batch.commit();
      }
    },
    workers: Array.from({ length: workers }, (_, worker) => () => claimOwn(worker)),
    left: async () => (await available().count().get()).data().count,
    async contendedPerSecond(seconds) {
      const end = performance.now() + seconds * 1000;
      let claimed = 0;
      const work = async (worker: number): Promise<void> => {
        while (performance.now() < end) {
          const id = await claimAny(worker);
          if (id !== undefined && performance.now() < end) claimed++;
        }
      };
      await Promise.race([
        Promise.all(Array.from({ length: workers }, (_, worker) => work(worker))),
        new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
      ]);
      return claimed / seconds;
    },
  };
}
