/** What a step of a deployment is. */
import type { Mend } from '../doctor/check.ts';
import type { Declared } from '../doctor/declared.ts';
import type { Diagnosis } from '../doctor/diagnose.ts';
import type { Google } from '../google/client.ts';
import type { Failure, Result } from '../google/failure.ts';
import type { Firebase } from './firebase.ts';

export interface Deployment {
  readonly google: Google;
  readonly firebase: Firebase;
  /** What the repository declares, with the parameters as they are now. */
  readonly declare: () => Promise<Declared>;
  /** Where the parameters are. */
  readonly folder: string;
  /** Values of secrets, by their names. */
  readonly secrets: Readonly<Record<string, string | undefined>>;
  /** Calls the endpoint that was deployed, and says what it answers. */
  readonly call: (url: string) => Promise<string>;
  readonly say: (line: string) => void;
}

export interface Step {
  readonly title: string;
  /** What the doctor says of it. Where all of that is well, nothing is to be done. */
  readonly checks: readonly string[];
  /** It is done each time: only what it deploys knows whether it has changed. */
  readonly always?: boolean;
  /** Undefined where a person must do it. */
  readonly run?: (deployment: Deployment, diagnosis: Diagnosis) => Promise<void>;
}

/** The deployment cannot go on: why, and what mends it. */
export class Stop extends Error {
  readonly mend: Mend | undefined;

  constructor(message: string, mend?: Mend) {
    super(message);
    this.mend = mend;
  }
}

/** The value, or the end of the deployment with Google's own words. */
export function orStop<Value>(result: Result<Value>, what: string, mend?: Mend): Value {
  if (result.ok) return result.value;
  throw new Stop(`${what}: ${sentence(result.failure)}`, mend);
}

export function sentence({ status, message }: Failure): string {
  return status === 0 ? message : `Google answers ${status}: ${message}`;
}
