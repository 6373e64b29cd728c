/** Lays out a graph in a worker, because large graphs would block the page too long. */
import type { Layout, Wanted } from './graph.ts';
import workerUrl from './layout.worker.ts?worker&url';

/** Timeout of the layout, long enough for the largest graph that is shown. */
const TIMEOUT_MS = 20_000;

/**
 * Trusted Types policy for the address of the worker's script, the only address that it accepts. Source:
 * https://developer.mozilla.org/docs/Web/API/Trusted_Types_API
 */
const policy = window.trustedTypes?.createPolicy('muster', {
  createScriptURL(address) {
    if (address !== workerUrl) throw new Error('There is one worker, and this is not it.');
    return address;
  },
});

export function graphLayout(wanted: Wanted): { readonly result: Promise<Layout>; stop(): void } {
  const worker = new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: 'module' });
  const stop = () => worker.terminate();
  const result = new Promise<Layout>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it takes too long')), TIMEOUT_MS);
    worker.onmessage = ({ data }: MessageEvent<Layout>) => {
      clearTimeout(timer);
      resolve(data);
    };
    worker.onerror = () => {
      clearTimeout(timer);
      reject(new Error('its worker has failed'));
    };
    worker.postMessage(wanted);
  });
  void result.then(stop, stop);
  return { result, stop };
}
