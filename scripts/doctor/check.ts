/** Checks of the doctor. A check compares a project's state with this repository's declarations. */
import type { Failure, Result } from '../google/failure.ts';
import type { Declared } from './declared.ts';
import type { Inspected } from './inspect.ts';

/** One exact command or, if no command can fix the problem, the address of a page and what to do there. */
export type Fix = { readonly command: string } | { readonly page: string; readonly press: string };

export type Finding =
  | { readonly state: 'ok' }
  | { readonly state: 'problem'; readonly what: string; readonly why: string; readonly fix: Fix }
  /** A risk that the operator may accept, so it makes neither the doctor nor a deployment fail. */
  | { readonly state: 'warning'; readonly what: string; readonly why: string; readonly fix: Fix }
  /** The check could not run. `fix`, or the finding of another check, describes how to make it possible. */
  | { readonly state: 'unseen'; readonly what: string; readonly fix?: Fix };

export interface Site {
  readonly seen: Inspected;
  readonly declared: Declared;
}

export interface Check {
  /** Name of the checked feature as in Google's documentation, such as `point-in-time recovery`. */
  readonly name: string;
  readonly find: (site: Site) => Finding;
}

export const OK: Finding = { state: 'ok' };

/** Returns the finding OK, or this problem. */
export function problemUnless(isFine: boolean, problem: Omit<Finding & { state: 'problem' }, 'state'>): Finding {
  return isFine ? OK : { state: 'problem', ...problem };
}

/** Returns the finding of a check that needs a resource which does not exist. Another check reports its absence. */
export function waitsFor(what: string): Finding {
  return { state: 'unseen', what: `${what} yet` };
}

/** Returns the decision about a value. If the value could not be read, returns a finding with the reason. */
export function known<Value>({ declared }: Site, result: Result<Value>, decide: (value: Value) => Finding): Finding {
  return result.ok ? decide(result.value) : unseen(result.failure, declared.project);
}

/** Like `known`, for several values. If some could not be read, the finding has the reason of the first of them. */
export function knownAll<Value>(
  site: Site,
  results: ReadonlyMap<string, Result<Value>>,
  decide: (values: ReadonlyMap<string, Value>) => Finding,
): Finding {
  const values = new Map<string, Value>();
  for (const [name, result] of results) {
    if (!result.ok) return unseen(result.failure, site.declared.project);
    values.set(name, result.value);
  }
  return decide(values);
}

function unseen({ status, message, reason, service }: Failure, project: string): Finding {
  if (reason === 'SERVICE_DISABLED' && service !== undefined) {
    const fix = { command: `gcloud services enable ${service} --project ${project}` };
    return { state: 'unseen', what: `${service} is disabled in this project`, fix };
  }
  if (status !== 403) return { state: 'unseen', what: message };
  const role = message.includes('billing')
    ? undefined
    : /serviceusage\.services\.use|USER_PROJECT_DENIED/.test(`${message} ${reason}`)
      ? 'roles/serviceusage.serviceUsageConsumer'
      : 'roles/viewer';
  return {
    state: 'unseen',
    what: message,
    fix:
      role === undefined
        ? {
            page: 'https://console.cloud.google.com/billing',
            press: 'Choose the billing account, then Account management, and add yourself as Billing Account Viewer',
          }
        : {
            command: `gcloud projects add-iam-policy-binding ${project} --member="user:$(gcloud config get-value account)" --role=${role}`,
          },
  };
}

/** Returns the deployment command, which fixes everything that a program can fix. */
export function deployCommand({ project }: Declared): Fix {
  return { command: `npm run deploy -- --project ${project}` };
}

/** Returns the command that sets a parameter of the functions and deploys them. */
export function setParameter({ project }: Declared, name: string, value: string): Fix {
  return { command: `echo '${name}=${value}' >> functions/.env.${project} && npm run deploy -- --project ${project}` };
}

export function list(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
