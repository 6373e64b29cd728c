/** Sends runs through Cloud Tasks to the function that executes them. */

import type { TaskQueue } from 'firebase-admin/functions';
import { firebaseApp } from '../../kernel/platform.ts';
import type { Randomness } from '../../kernel/ports.ts';
import type { RunDispatch } from '../../toolsets/orchestration/index.ts';

/** Longest time that Cloud Tasks allows for the execution of a task, in seconds. */
const DEADLINE_SECONDS = 1800;

const ID_LENGTH = 24;

/** A task's name prevents duplicates. Each call makes a new name, because Cloud Tasks blocks used names for hours. */
export function cloudTasksRunQueue(region: string, randomness: Randomness): RunDispatch {
  let executeRun: Promise<TaskQueue<{ readonly runId: string }>> | undefined;
  return {
    async dispatch(runId) {
      const id = randomness.letters(ID_LENGTH);
      executeRun ??= import('firebase-admin/functions').then(({ getFunctions }) =>
        getFunctions(firebaseApp()).taskQueue(`locations/${region}/functions/executeRun`),
      );
      const queue = await executeRun;
      try {
        await queue.enqueue({ runId }, { id, dispatchDeadlineSeconds: DEADLINE_SECONDS });
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'functions/task-already-exists')) throw error;
      }
    },
  };
}
