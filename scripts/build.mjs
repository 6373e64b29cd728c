// @ts-check
/** `npm run build`, which `firebase deploy` runs too. */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites({ java: false });
const { runSession } = await import('./processes/session.mjs');
const { prepare } = await import('./setup/prepare.mjs');
await runSession({ kind: 'build', interrupted: 130 }, async (session) => {
  await prepare(session);
  return 0;
});
