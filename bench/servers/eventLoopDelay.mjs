// @ts-check
/** Module that the function's process loads first. It reports the event-loop delay since the previous message. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

process.on('message', () => {
  process.send?.(delays.percentile(99) / 1e6 - RESOLUTION_MS); // A recorded delay includes the interval of the timer.
  delays.reset();
});
