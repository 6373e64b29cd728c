/** Lays out a graph in a worker, because large graphs would block the page too long. */
import { LAYOUT_WORKER, trustedScript } from '../../parts/trustedScripts.ts';
import type { Layout, Wanted } from './graph.ts';

/** Timeout of the layout, long enough for the largest graph that is shown. */
const TIMEOUT_MS = 20_000;

export function graphLayout(wanted: Wanted): { readonly result: Promise<Layout>; stop(): void } {
  const worker = new Worker(trustedScript(LAYOUT_WORKER), { type: 'module' });
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
