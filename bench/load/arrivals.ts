/** Makes calls at a constant rate, independent of the responses. */
import { setTimeout as delay } from 'node:timers/promises';

export type Call = () => Promise<unknown>;

/**
 * @param calls one function per caller; a caller makes one call at a time
 * @returns latencies in milliseconds, each from the call's arrival, so that they include the wait for an idle caller
 */
export async function latenciesAt(perSecond: number, count: number, calls: readonly Call[]): Promise<number[]> {
  const latencies: number[] = [];
  const idle = [...calls];
  const waiting: ((call: Call) => void)[] = [];
  const arrive = async (due: number): Promise<void> => {
    const call = idle.shift() ?? (await new Promise<Call>((resolve) => waiting.push(resolve)));
    await call();
    latencies.push(performance.now() - due);
    const next = waiting.shift();
    if (next === undefined) idle.push(call);
    else next(call);
  };
  const started = performance.now();
  const arrivals: Promise<void>[] = [];
  for (let number = 0; number < count; number++) {
    const due = started + (number * 1000) / perSecond;
    await delay(Math.max(0, due - performance.now()));
    arrivals.push(arrive(due));
  }
  await Promise.all(arrivals);
  return latencies;
}
