/** Dispatches runs to the function that executes them through Cloud Tasks. */

import type { TaskQueue } from 'firebase-admin/functions';
import { firebaseApp } from '../../kernel/platform.ts';
import type { Randomness } from '../../kernel/ports.ts';
import type { RunDispatch } from '../../toolsets/orchestration/index.ts';

/** Maximum dispatch deadline of Cloud Tasks. */
const DEADLINE_SECONDS = 1800;

const ID_LENGTH = 24;

/** A task's name deduplicates retries. Each dispatch has a new name, because used names are refused for hours. */
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
        if (!isThereAlready(error)) throw error;
      }
    },
  };
}

function isThereAlready(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'functions/task-already-exists';
}
