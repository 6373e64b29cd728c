import type { Fix } from '../doctor/check.ts';
import type { Declared } from '../doctor/declared.ts';
import type { Diagnosis } from '../doctor/diagnose.ts';
import type { Google } from '../google/client.ts';
import type { Failure, Result } from '../google/failure.ts';
import type { Firebase } from './firebase.ts';

export interface Deployment {
  readonly google: Google;
  readonly firebase: Firebase;
  readonly declare: () => Promise<Declared>;
  /** Folder that contains the parameter files. */
  readonly folder: string;
  readonly secrets: Readonly<Record<string, string | undefined>>;
  /** Calls the deployed endpoint and returns a sentence about its response. */
  readonly call: (url: string) => Promise<string>;
  readonly say: (line: string) => void;
}

export interface Step {
  readonly title: string;
  /** Names of the doctor's checks that pass after this step. If all of them already pass, the step is skipped. */
  readonly checks: readonly string[];
  /** Set if the step must always run, because the doctor cannot detect which version of the code is deployed. */
  readonly always?: boolean;
  /** Undefined if only a person can do this step. */
  readonly run?: (deployment: Deployment, diagnosis: Diagnosis) => Promise<void>;
}

/** Thrown to stop the deployment, with the reason and, if known, the fix. */
export class Stop extends Error {
  readonly fix: Fix | undefined;

  constructor(message: string, fix?: Fix) {
    super(message);
    this.fix = fix;
  }
}

/** Returns the value of a result. @throws Stop with Google's message if it is a failure */
export function orStop<Value>(result: Result<Value>, what: string, fix?: Fix): Value {
  if (result.ok) return result.value;
  throw new Stop(`${what}: ${sentence(result.failure)}`, fix);
}

export function sentence({ status, message }: Failure): string {
  return status === 0 ? message : `Google responded with ${status}: ${message}`;
}
