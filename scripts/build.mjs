// @ts-check
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { runSession } = await import('./processes/session.mjs');
const { prepare } = await import('./setup/prepare.mjs');
await runSession({ kind: 'build', interrupted: 130 }, async (session) => {
  await prepare(session);
  return 0;
});
