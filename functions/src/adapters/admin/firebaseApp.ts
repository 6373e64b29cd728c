import { type App, getApps, initializeApp } from 'firebase-admin/app';

/** The Admin SDK's app, of the environment's own credentials. */
export function firebaseApp(): App {
  return getApps()[0] ?? initializeApp();
}
