/** Deploys step by step, in an order in which each step finds what it needs. What is right already is left alone. */
import { type Diagnosis, diagnose, type Named } from '../doctor/diagnose.ts';
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
 * @returns what the doctor still finds, which nothing above could mend
 * @throws Stop at the first thing that cannot be done
 */
export async function deploy(deployment: Deployment): Promise<readonly Named[]> {
  let diagnosis = await lookAgain(deployment);
  for (const step of STEPS) {
    if (isRight(step, diagnosis)) {
      deployment.say(`right already: ${step.title}`);
      continue;
    }
    deployment.say(`${step.title} …`);
    if (step.run === undefined) stopWhereWrong(step, diagnosis);
    await step.run?.(deployment, diagnosis);
    diagnosis = await lookAgain(deployment);
  }
  const { google, folder, call, say } = deployment;
  const url = endpointOf(google.project, folder);
  say(`call ${url} …`);
  say(`  ${await call(url)}`);
  return diagnosis.findings.filter(({ state }) => state !== 'ok');
}

/** What would be done, by one look: what a step changes for a later one is not known. */
export async function plan(deployment: Deployment): Promise<void> {
  const diagnosis = await lookAgain(deployment);
  for (const step of STEPS)
    deployment.say(`${isRight(step, diagnosis) ? 'right already' : verbOf(step)}: ${step.title}`);
  deployment.say(`would call: ${endpointOf(deployment.google.project, deployment.folder)}`);
}

function verbOf({ run }: Step): string {
  return run === undefined ? 'would stop where this is wrong' : 'would do';
}

async function lookAgain({ google, declare }: Deployment): Promise<Diagnosis> {
  return diagnose(google, await declare());
}

function isRight({ checks, always }: Step, { findings }: Diagnosis): boolean {
  return always !== true && of(checks, findings).every(({ state }) => state === 'ok');
}

/** What cannot be looked at yet is none of a person's doing. */
function stopWhereWrong({ checks }: Step, { findings }: Diagnosis): void {
  const wrong = of(checks, findings).find(({ state }) => state === 'problem');
  if (wrong?.state === 'problem') throw new Stop(`${wrong.name}: ${wrong.what} (${wrong.why})`, wrong.mend);
}

function of(checks: readonly string[], findings: readonly Named[]): readonly Named[] {
  return findings.filter(({ name }) => checks.includes(name));
}
