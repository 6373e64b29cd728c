/** Deploys in steps. Each step needs the results of the previous steps, and is skipped if nothing must be changed. */
import { type Diagnosis, diagnose, type Named } from '../doctor/diagnose.ts';
import { NoCredentials } from '../google/credentials.ts';
import { endpointOf } from '../setup/parameters.mjs';
import { type Deployment, type Step, Stop } from './step.ts';
import { aroundSteps } from './steps/around.ts';
import { codeSteps, consoleSteps } from './steps/code.ts';
import { databaseSteps } from './steps/databases.ts';
import { identitySteps, secretSteps } from './steps/identity.ts';
import { parameterSteps } from './steps/parameters.ts';
import { projectSteps } from './steps/project.ts';

export const STEPS: readonly Step[] = [
  ...projectSteps,
  ...databaseSteps,
  ...identitySteps,
  ...secretSteps,
  ...parameterSteps,
  ...codeSteps,
  ...aroundSteps,
  ...consoleSteps,
];

/**
 * Deploys, and returns the doctor's findings that no step can fix.
 * @throws Stop at the first step that fails
 */
export async function deploy(deployment: Deployment): Promise<readonly Named[]> {
  let diagnosis = await inspectAgain(deployment);
  for (const step of STEPS) {
    if (isUpToDate(step, diagnosis)) {
      deployment.say(`unchanged: ${step.title}`);
      continue;
    }
    deployment.say(`${step.title} …`);
    if (step.run === undefined) stopOnFindings(step, diagnosis);
    await step.run?.(deployment, diagnosis);
    diagnosis = await inspectAgain(deployment);
  }
  const { google, folder, call, say } = deployment;
  const url = endpointOf(google.project, folder);
  say(`calling ${url}`);
  say(`  ${await call(url)}`);
  return diagnosis.findings.filter(({ state }) => state !== 'ok');
}

/** Prints what each step would do in the current state of the project. No step is run. */
export async function plan(deployment: Deployment): Promise<void> {
  const { say } = deployment;
  const diagnosis = await inspectAgain(deployment).catch((error: unknown) => {
    if (!(error instanceof NoCredentials)) throw error;
    say(`${error.message}\nThe state of the project is unknown, so these are all steps:`);
    return undefined;
  });
  const isDone = (step: Step) => diagnosis !== undefined && isUpToDate(step, diagnosis);
  for (const step of STEPS) say(`${isDone(step) ? 'unchanged' : verbOf(step)}: ${step.title}`);
  say(`would call: ${endpointOf(deployment.google.project, deployment.folder)}`);
}

function verbOf({ run }: Step): string {
  return run === undefined ? 'would check this, and stop if it is wrong' : 'would change';
}

async function inspectAgain({ google, declare }: Deployment): Promise<Diagnosis> {
  return diagnose(google, await declare());
}

function isUpToDate({ checks, always }: Step, { findings }: Diagnosis): boolean {
  return always !== true && of(checks, findings).every(({ state }) => state === 'ok');
}

/** Stops if a check reports a problem. A check that waits for a missing resource is not a problem to fix here. */
function stopOnFindings({ checks }: Step, { findings }: Diagnosis): void {
  const wrong = of(checks, findings).find(({ state }) => state === 'problem');
  if (wrong?.state === 'problem') throw new Stop(`${wrong.name}: ${wrong.what} (${wrong.why})`, wrong.fix);
}

function of(checks: readonly string[], findings: readonly Named[]): readonly Named[] {
  return findings.filter(({ name }) => checks.includes(name));
}
