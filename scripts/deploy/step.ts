/** A step of a deployment. */
import type { Fix } from '../doctor/check.ts';
import type { Declared } from '../doctor/declared.ts';
import type { Diagnosis } from '../doctor/diagnose.ts';
import type { Google } from '../google/client.ts';
import type { Failure, Result } from '../google/failure.ts';
import type { Firebase } from './firebase.ts';

export interface Deployment {
  readonly google: Google;
  readonly firebase: Firebase;
  /** Reads the repository's declarations with the current parameters. */
  readonly declare: () => Promise<Declared>;
  /** Folder of the parameters. */
  readonly folder: string;
  /** Values of secrets by name. */
  readonly secrets: Readonly<Record<string, string | undefined>>;
  /** Calls the deployed endpoint and returns a sentence about its response. */
  readonly call: (url: string) => Promise<string>;
  readonly say: (line: string) => void;
}

export interface Step {
  readonly title: string;
  /** Doctor's checks that this step fixes. If they pass, the step is skipped. */
  readonly checks: readonly string[];
  /** Runs the step every time, because only the deployed resource shows whether it has changed. */
  readonly always?: boolean;
  /** Undefined if a person must do it. */
  readonly run?: (deployment: Deployment, diagnosis: Diagnosis) => Promise<void>;
}

/** Ends the deployment, with the reason and a fix. */
export class Stop extends Error {
  readonly mend: Fix | undefined;

  constructor(message: string, mend?: Fix) {
    super(message);
    this.mend = mend;
  }
}

/** Returns the value, or ends the deployment with Google's message. */
export function orStop<Value>(result: Result<Value>, what: string, mend?: Fix): Value {
  if (result.ok) return result.value;
  throw new Stop(`${what}: ${sentence(result.failure)}`, mend);
}

export function sentence({ status, message }: Failure): string {
  return status === 0 ? message : `Google responded with ${status}: ${message}`;
}
