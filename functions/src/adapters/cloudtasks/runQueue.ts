/** Hands runs to the function that executes them, by Cloud Tasks. */
import type { TaskQueue } from 'firebase-admin/functions';
import type { RunDispatch } from '../../domain/orchestration/runs/ports.ts';
import { firebaseApp } from '../admin/firebaseApp.ts';

/** The longest that Cloud Tasks gives a delivery. */
const DEADLINE_SECONDS = 1800;

export class CloudTasksRunQueue implements RunDispatch {
  private readonly region: string;
  private queue: Promise<TaskQueue<{ readonly runId: string }>> | undefined;

  constructor(region: string) {
    this.region = region;
  }

  async dispatch(runId: string): Promise<void> {
    await (await this.executeRun()).enqueue({ runId }, { dispatchDeadlineSeconds: DEADLINE_SECONDS });
  }

  private executeRun(): Promise<TaskQueue<{ readonly runId: string }>> {
    this.queue ??= import('firebase-admin/functions').then(({ getFunctions }) =>
      getFunctions(firebaseApp()).taskQueue(`locations/${this.region}/functions/executeRun`),
    );
    return this.queue;
  }
}
