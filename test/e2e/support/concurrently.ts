/** Runs tests concurrently. It is meant for tests that mostly wait for other processes. */

/**
 * Defines tests that run concurrently and are reported in order. No two tests may use the same data. If `--grep`
 * selects one of the tests, all of them run nevertheless.
 * @param max maximum number of concurrent tests; more than the machine can handle make each test slower
 * @param tests tests by title; the slowest tests should be first
 */
export function runConcurrently(max: number, tests: Readonly<Record<string, () => Promise<void>>>): void {
  const started = Object.entries(tests).map(([title, test]) => {
    let tell: (outcome: Promise<void>) => void = () => undefined;
    const outcome = new Promise<void>((resolve) => {
      tell = resolve;
    });
    outcome.catch(() => undefined); // If the test fails, Mocha reports it for this title.
    return { title, test, outcome, tell };
  });

  before(() => {
    const waiting = [...started];
    const goThrough = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const running = next.test();
        next.tell(running);
        await Promise.allSettled([running]);
      }
    };
    for (let count = 0; count < max; count++) void goThrough();
  });

  for (const { title, outcome } of started) it(title, () => outcome);
}
