/** Tests that mostly wait for other processes, and can therefore run concurrently. */

/**
 * Defines tests of which several run concurrently. Each needs its own data, and is reported in order with the
 * remaining waiting time. All are started, even if `--grep` selects one.
 * @param max maximum number of concurrent tests; beyond the machine's capacity, each only gets slower
 * @param tests tests by title, the slowest first
 */
export function runConcurrently(max: number, tests: Readonly<Record<string, () => Promise<void>>>): void {
  const begun = Object.entries(tests).map(([title, test]) => {
    let tell: (outcome: Promise<void>) => void = () => undefined;
    const outcome = new Promise<void>((resolve) => {
      tell = resolve;
    });
    outcome.catch(() => undefined); // The test with this title fails with it.
    return { title, test, outcome, tell };
  });

  before(() => {
    const waiting = [...begun];
    const goThrough = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const running = next.test();
        next.tell(running);
        await Promise.allSettled([running]);
      }
    };
    for (let count = 0; count < max; count++) void goThrough();
  });

  for (const { title, outcome } of begun) it(title, () => outcome);
}
