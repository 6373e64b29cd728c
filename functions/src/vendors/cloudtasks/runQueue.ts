/** Sends runs through Cloud Tasks to the function that executes them. */
import { loadedOnce } from '../../kernel/memoCache.ts';
import type { Randomness } from '../../kernel/ports.ts';
import { firebaseApp } from '../../kernel/realtime/database.ts';
import type { RunDispatch } from '../../toolsets/orchestration/index.ts';

/** Longest time that Cloud Tasks allows for the execution of a task, in seconds. */
const DEADLINE_SECONDS = 1800;
const ID_LENGTH = 24;

/** A task's name prevents duplicates. Each call makes a new name, because Cloud Tasks blocks used names for hours. */
export function cloudTasksRunQueue(region: string, randomness: Randomness): RunDispatch {
  const executeRun = loadedOnce(async () => {
    const { getFunctions } = await import('firebase-admin/functions');
    return getFunctions(firebaseApp()).taskQueue<{ readonly runId: string }>(
      `locations/${region}/functions/executeRun`,
    );
  });
  return {
    async dispatch(runId) {
      const id = randomness.letters(ID_LENGTH);
      const queue = await executeRun();
      try {
        await queue.enqueue({ runId }, { id, dispatchDeadlineSeconds: DEADLINE_SECONDS });
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'functions/task-already-exists')) throw error;
      }
    },
  };
}
