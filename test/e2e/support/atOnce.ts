/** Tests that spend their time waiting for other processes, and so need not wait for each other. */

/**
 * Defines tests of which a few are under way at once. Each must bring all that it works with, and is reported in its
 * turn with the time for which it was still to be waited for. All are begun, also where `--grep` asks for one.
 * @param most how many at once: beyond what the machine bears each only gets slower
 * @param tests by their titles; those that take longest first
 */
export function someAtOnce(most: number, tests: Readonly<Record<string, () => Promise<void>>>): void {
  const begun = Object.entries(tests).map(([title, test]) => {
    let tell: (outcome: Promise<void>) => void = () => undefined;
    const outcome = new Promise<void>((resolve) => {
      tell = resolve;
    });
    outcome.catch(() => undefined); // the test of this title fails with it
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
    for (let count = 0; count < most; count++) void goThrough();
  });

  for (const { title, outcome } of begun) it(title, () => outcome);
}
