// @ts-check

/**
 * Runs the jobs in test workers, each of which runs one job at a time. Two workers run any job, because the emulators
 * use as much of the machine as the tests. A third worker runs jobs without emulators while the emulators boot, and
 * runs any job when no serial job is left, because the deployed functions are idle then.
 * @template {{ oneAtATime: boolean, emulators: boolean }} Job
 * @param {Job[]} jobs
 * @param {(job: Job) => Promise<void>} work
 */
export async function runInWorkers(jobs, work) {
  const waiting = [...jobs];
  /** Whether a serial job is running. */
  let isOneRunning = false;
  const isOneLeft = () => isOneRunning || waiting.some(({ oneAtATime }) => oneAtATime);
  /** @param {(job: Job) => boolean} mayTake */
  const next = (mayTake) => {
    const index = waiting.findIndex(mayTake);
    return index === -1 ? undefined : waiting.splice(index, 1)[0];
  };
  let open = () => {};
  /** @type {Promise<void>} */
  const noneIsLeft = new Promise((resolve) => {
    open = resolve;
  });
  /** If only serial jobs are left while a serial job is running, its worker runs all of them. */
  const worker = async () => {
    const mayTake = (/** @type {Job} */ { oneAtATime }) => !(oneAtATime && isOneRunning);
    for (let job = next(mayTake); job !== undefined; job = next(mayTake)) {
      if (job.oneAtATime) isOneRunning = true;
      await work(job);
      if (job.oneAtATime) isOneRunning = false;
      if (!isOneLeft()) open();
    }
  };
  const third = async () => {
    const mayTake = (/** @type {Job} */ { emulators }) => !emulators;
    for (let job = next(mayTake); job !== undefined; job = next(mayTake)) await work(job);
    await noneIsLeft;
    await worker();
  };
  if (!isOneLeft()) open();
  await Promise.all([worker(), worker(), third()]);
}
