/**
 * Trusted Types policy for the addresses of workers, the only addresses that it accepts. A policy can be created only
 * once. Source: https://developer.mozilla.org/docs/Web/API/Trusted_Types_API
 */
import layoutWorker from '../screens/tasks/layout.worker.ts?worker&url';

export const LAYOUT_WORKER = layoutWorker;

/** Service worker for push messages, which scripts/setup/buildConsole.mjs builds from console/worker/push.ts. */
export const PUSH_WORKER = '/push.js';

const policy = window.trustedTypes?.createPolicy('muster', {
  createScriptURL(address) {
    if (address !== LAYOUT_WORKER && address !== PUSH_WORKER) throw new Error('This is not a worker of the page.');
    return address;
  },
});

/** Returns the address of a worker in the form that the page's content security policy requires. */
export function trustedScript(address: string): URL | string {
  return policy?.createScriptURL(address) ?? address;
}
