/** Runs tests concurrently that mostly wait for other processes. */

/**
 * Defines tests that run concurrently, and are reported in order. Each test needs its own data. All tests are
 * started, even if `--grep` selects one.
 * @param max maximum number of concurrent tests; above the machine's capacity, each test only gets slower
 * @param tests tests by title; the slowest tests should be first
 */
export function runConcurrently(max: number, tests: Readonly<Record<string, () => Promise<void>>>): void {
  const started = Object.entries(tests).map(([title, test]) => {
    let tell: (outcome: Promise<void>) => void = () => undefined;
    const outcome = new Promise<void>((resolve) => {
      tell = resolve;
    });
    outcome.catch(() => undefined); // A rejection is reported by the test with this title.
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
