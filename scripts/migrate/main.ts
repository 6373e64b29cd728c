/** Carries over what version 0.1.0 has stored. What is carried over already stays as it is, so it may be run again. */
import { z } from 'zod';
import {
  DEPLOYMENT_USAGE,
  deployment,
  parsedLine,
  reach,
  runCommand,
  UsageError,
} from '../operator/deployment.ts';

const USAGE = `Usage:
  npm run migrate -- --project <id> [--database-url <url>]
  npm run migrate -- --emulator
${DEPLOYMENT_USAGE}
  --database-url <url>   the Realtime Database, where it is not https://<id>-default-rtdb.firebaseio.com`;

const options = z.strictObject({ 'database-url': z.url('--database-url: a URL').optional(), ...deployment });

await runCommand(USAGE, async () => {
  const types = { project: 'string', emulator: 'boolean', 'database-url': 'string' } as const;
  const { options: given, words } = parsedLine(process.argv.slice(2), types, options);
  if (words.length > 0) throw new UsageError(`What is "${words.join(' ')}"?`);
  reach({ ...given, databaseUrl: given['database-url'] });
  // Only now: the clients read where to go from the environment as they load.
  const { migrate } = await import('./migration.ts');
  await migrate((sentence) => console.log(sentence));
});
