/** Checks a project, and prints each problem, why it matters and how to fix it. Changes nothing. */
import { runCommand } from '../operator/deployment.ts';
import { doctorUsage } from '../operator/usages.mjs';
import { diagnose } from './diagnose.ts';
import { isHealthy, linesOf } from './report.ts';
import { googleOf, parsedSite } from './site.ts';

await runCommand(doctorUsage, async () => {
  const { options, declared } = await parsedSite(process.argv.slice(2), { json: 'boolean' });
  const { findings } = await diagnose(googleOf(declared.project), declared);
  console.log(
    options['json'] === true
      ? JSON.stringify({ project: declared.project, findings }, null, 2)
      : linesOf(findings).join('\n'),
  );
  if (!isHealthy(findings)) process.exit(1);
});
