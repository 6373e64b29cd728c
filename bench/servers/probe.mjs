// @ts-check
/** Module that the function's process loads first, and that reports figures about the process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

/** 99th percentile of the event-loop delay since the previous report, in milliseconds. */
function delay() {
  const milliseconds = delays.percentile(99) / 1e6 - RESOLUTION_MS; // A recorded delay includes the timer's interval.
  delays.reset();
  return milliseconds;
}

/** Used heap after a garbage collection, in KiB. */
function heap() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024;
}

process.on('message', (what) => process.send?.(what === 'heap' ? heap() : delay()));
