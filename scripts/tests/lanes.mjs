// @ts-check

/** Two: what runs beside the tests, the emulators, takes as much of the machine as they do. */
const lanes = 2;

/**
 * Works through the jobs in two lanes, each of which takes the next job as soon as it has ended one. When nothing is
 * left that is run one at a time, the deployed functions have nothing to do any more, and a third lane is opened.
 * @template {{ oneAtATime: boolean }} Job
 * @param {Job[]} jobs
 * @param {(job: Job, lane: number) => Promise<void>} work
 */
export async function runInLanes(jobs, work) {
  const waiting = [...jobs];
  /** Of the jobs that are run one at a time. */
  let isOneRunning = false;
  const next = () => {
    const index = waiting.findIndex((job) => !(job.oneAtATime && isOneRunning));
    return index === -1 ? undefined : waiting.splice(index, 1)[0];
  };
  /** Where only jobs are left that wait for the other lane, they are that lane's. @param {number} number */
  const lane = async (number) => {
    for (let job = next(); job !== undefined; job = next()) {
      if (job.oneAtATime) isOneRunning = true;
      await work(job, number);
      if (!job.oneAtATime) continue;
      isOneRunning = false;
      if (waiting.some(({ oneAtATime }) => oneAtATime)) continue;
      return void (await Promise.all([lane(number), lane(lanes + 1)]));
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index + 1)));
}
