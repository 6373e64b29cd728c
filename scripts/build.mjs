// @ts-check
/** `npm run build`, which `firebase deploy` runs too: it is not deployed unless its types hold. */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites({ java: false });
const { runSession } = await import('./processes/session.mjs');
const { checkFunctions } = await import('./setup/build.mjs');
const { prepare } = await import('./setup/prepare.mjs');
await runSession({ kind: 'build', interrupted: 130 }, async (session) => {
  const node = await prepare(session);
  return (await checkFunctions({ node, env: session.run.env })) ? 0 : 1;
});
