/**
 * Baseline of a claim: one query and one update by this process, with a precondition instead of a lock. Each worker
 * has separate tasks, so claims never conflict. Transactions on one shared queue wait for each other's locks, so
 * being faster than they are would prove nothing. Their rate is reported, but is not the baseline.
 */
import type { Firestore, Query } from '@google-cloud/firestore';

export interface BareQueue {
  fill(): Promise<void>;
  /** One function per worker. It claims a task of this worker and returns its id; undefined if no task is left. */
  readonly workers: readonly (() => Promise<string | undefined>)[];
  left(): Promise<number>;
  /** Returns the rate of claims by concurrent transactions on the whole queue. */
  contendedPerSecond(seconds: number): Promise<number>;
}

const BATCH = 500;
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
