// @ts-check
/** `npm run build`, which `firebase deploy` also runs. A type error stops the deployment. */
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked('npm run build   bundles the functions and the console, and checks their types');
checkPrerequisites({ java: false });
const { runSession } = await import('./processes/session.mjs');
const { checkFunctions } = await import('./setup/build.mjs');
const { buildConsole, checkConsole, checkWorker } = await import('./setup/console.mjs');
const { succeeds } = await import('./setup/command.mjs');
const { prepare } = await import('./setup/prepare.mjs');
await runSession({ kind: 'build', interrupted: 130 }, async (session) => {
  const node = await prepare(session);
  const { env } = session.run;
  await buildConsole('production', { node, env });
  const checks = [checkConsole(node), checkWorker(node)].map((command) => succeeds(command, { env }));
  const holds = (await Promise.all(checks)).every((isSound) => isSound);
  return (await checkFunctions({ node, env })) && holds ? 0 : 1;
});
