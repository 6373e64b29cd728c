/**
 * What the work gives, if it gives it in time. The work itself goes on.
 * @param what its subject, for the error: `The Realtime Database`
 * @throws Error where it takes longer
 */
export async function inTime<T>(work: Promise<T>, milliseconds: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not answer.`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
