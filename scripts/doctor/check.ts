/** A check: a pure function of the project's observed and declared state. */
import type { Failure, Result } from '../google/failure.ts';
import type { Declared } from './declared.ts';
import type { Inspected } from './inspect.ts';

/** One exact command or, if none exists, one exact page and what to do there. */
export type Fix = { readonly command: string } | { readonly page: string; readonly press: string };

export type Finding =
  | { readonly state: 'ok' }
  | { readonly state: 'problem'; readonly what: string; readonly why: string; readonly mend: Fix }
  /** A risky choice that works, so it fails neither the doctor nor a deployment. */
  | { readonly state: 'warning'; readonly what: string; readonly why: string; readonly mend: Fix }
  /** Could not be checked. Another line or `mend` names what is missing. */
  | { readonly state: 'unseen'; readonly what: string; readonly mend?: Fix };

export interface Site {
  readonly seen: Inspected;
  readonly declared: Declared;
}

export interface Check {
  /** Name as in Google's documentation: `point-in-time recovery`. */
  readonly name: string;
  readonly find: (site: Site) => Finding;
}

export const OK: Finding = { state: 'ok' };

/** Returns the finding of a check that needs something that does not exist yet; another check reports that. */
export function waitsFor(what: string): Finding {
  return { state: 'unseen', what: `${what} yet` };
}

/** Decides by a value that was read; if reading failed, returns the reason. */
export function known<Value>({ declared }: Site, result: Result<Value>, decide: (value: Value) => Finding): Finding {
  return result.ok ? decide(result.value) : unseen(result.failure, declared.project);
}

/** Like `known`, for several readings; returns the reason of the first that failed. */
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
    const mend = { command: `gcloud services enable ${service} --project ${project}` };
    return { state: 'unseen', what: `${service} is disabled in this project`, mend };
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
    mend:
      role === undefined
        ? {
            page: 'https://console.cloud.google.com/billing',
            press: 'Choose the billing account, Account management, Add principal: you, as Billing Account Viewer',
          }
        : {
            command: `gcloud projects add-iam-policy-binding ${project} --member="user:$(gcloud config get-value account)" --role=${role}`,
          },
  };
}

/** Returns the command that fixes everything it can, step by step. */
export function deployCommand({ project }: Declared): Fix {
  return { command: `npm run deploy -- --project ${project}` };
}

/** Returns the command that sets a parameter of the functions and deploys. */
export function setParameter({ project }: Declared, name: string, value: string): Fix {
  return { command: `echo '${name}=${value}' >> functions/.env.${project} && npm run deploy -- --project ${project}` };
}

export function list(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
