// @ts-check
import { commandOf, parentOf } from '../../runner/src/process/table.mjs';

const parentCheckMilliseconds = 1000;

/**
 * Calls `stop` once, with the reason, when this process must end. That is after Ctrl-C, a signal or a closed
 * terminal, and when the npm process that started this one has ended, which sends no signal.
 * @param {(reason: string) => void} stop
 */
export function onInterruption(stop) {
  let stopped = false;
  /** @param {string} reason */
  const once = (reason) => {
    if (stopped) return;
    stopped = true;
    stop(reason);
  };
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => once(signal));
  // A closed terminal also closes the output. A failed write must not end this process before its cleanup.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => once('the output closed'));
  if (process.env.npm_lifecycle_event !== undefined) watchParents(() => once('npm ended'));
}

/** npm can start a shell that is the parent of this process. @param {() => void} onGone */
function watchParents(onGone) {
  const parent = process.ppid;
  const shellsParent = /^(ba|da|z|k)?sh$/.test(commandOf(parent)) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    const orphaned = process.ppid !== parent;
    if (orphaned || (shellsParent !== undefined && parentOf(parent) !== shellsParent)) onGone();
  }, parentCheckMilliseconds);
  timer.unref();
}
