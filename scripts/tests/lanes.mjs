// @ts-check

/**
 * Works through the jobs in lanes, each of which takes the next job as soon as it has ended one. Two take any: what
 * runs beside the tests, the emulators, takes as much of the machine as they do. A third takes what needs no
 * emulators, which is run while those boot, and when nothing is left that is run one at a time, whatever is left: the
 * deployed functions have nothing to do any more then.
 * @template {{ oneAtATime: boolean, emulators: boolean }} Job
 * @param {Job[]} jobs
 * @param {(job: Job) => Promise<void>} work
 */
export async function runInLanes(jobs, work) {
  const waiting = [...jobs];
  /** Of the jobs that are run one at a time. */
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
  /** Where only jobs are left that wait for the other lane, they are that lane's. */
  const lane = async () => {
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
    await lane();
  };
  if (!isOneLeft()) open();
  await Promise.all([lane(), lane(), third()]);
}
