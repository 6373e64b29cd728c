/** Deploys this clone to a Google Cloud project without prompts, and calls the deployed endpoint. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { declaredFor } from '../doctor/declared.ts';
import { linesOf } from '../doctor/report.ts';
import { googleOf, parsedSite } from '../doctor/site.ts';
import { runCommand, UsageError } from '../operator/deployment.ts';
import { deployUsage } from '../operator/usages.mjs';
import { root } from '../project.mjs';
import { endpointOf } from '../setup/parameters.mjs';
import { callEndpoint } from './call.ts';
import { deploy, plan } from './deploy.ts';
import { firebaseCli } from './firebase.ts';
import { type Deployment, Stop } from './step.ts';

await runCommand(deployUsage, async () => {
  const { options, declared } = await parsedSite(process.argv.slice(2), { 'dry-run': 'boolean', secrets: 'string' });
  const { project } = declared;
  const google = googleOf(project);
  const deployment: Deployment = {
    google,
    firebase: firebaseCli(google),
    declare: () => declaredFor(project),
    folder: `${root}/functions`,
    secrets: { ...process.env, ...secretsIn(options['secrets']) },
    call: (url) => callEndpoint(url, process.env['MUSTER_TOKEN']),
    say: (line) => console.log(line),
  };
  if (options['dry-run'] === true) return plan(deployment);
  const left = await deploy(deployment).catch((error: unknown) => {
    throw error instanceof Stop ? new Error(finalMessage(error)) : error;
  });
  console.log(whatNext(project));
  if (left.length > 0) console.log(['', 'Fix these remaining problems yourself:', ...linesOf(left)].join('\n'));
});

function secretsIn(file: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof file !== 'string') return {};
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch {
    throw new UsageError(`--secrets: cannot read the file ${file}`);
  }
}

function finalMessage({ message, fix }: Stop): string {
  const next = fix === undefined ? [] : 'command' in fix ? [`$ ${fix.command}`] : [fix.page, `${fix.press}.`];
  return [`Stopped. ${message}.`, ...next, 'Then run npm run deploy again. It skips finished steps.'].join('\n');
}

function whatNext(project: string): string {
  return `
Deployed. Next steps:
1. Make yourself the administrator:
   npm run people -- create --mail <your email> --role admin --project ${project}
   If the address already has an account, sign in and verify the address, then set the role:
   npm run people -- set-role <your email> admin --project ${project}
2. Connect Claude Code:
   claude mcp add --transport http muster ${endpointOf(project)}
3. If something does not work, check the project:
   npm run doctor -- --project ${project}`;
}
