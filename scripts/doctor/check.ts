/** What a check is: a pure function of what was seen and what is declared. */
import type { Failure, Result } from '../google/failure.ts';
import type { Declared } from './declared.ts';
import type { Seen } from './look.ts';

/** One exact command, or where none exists one exact page and what to do there. */
export type Mend = { readonly command: string } | { readonly page: string; readonly press: string };

export type Finding =
  | { readonly state: 'ok' }
  | { readonly state: 'problem'; readonly what: string; readonly why: string; readonly mend: Mend }
  /** A choice with a risk. It works, so that it fails neither the doctor nor a deployment. */
  | { readonly state: 'warning'; readonly what: string; readonly why: string; readonly mend: Mend }
  /** It could not be looked at, so nothing is claimed of it. What it waits for stands in another line, or in `mend`. */
  | { readonly state: 'unseen'; readonly what: string; readonly mend?: Mend };

export interface Site {
  readonly seen: Seen;
  readonly declared: Declared;
}

export interface Check {
  /** What somebody would call it: `point-in-time recovery`. */
  readonly name: string;
  readonly find: (site: Site) => Finding;
}

export const OK: Finding = { state: 'ok' };

/** Where something else is missing first, which a line of its own says. */
export function waitsFor(what: string): Finding {
  return { state: 'unseen', what: `there is ${what} yet` };
}

/** Decides by what was read, or says why it could not be. */
export function known<Value>(
  { declared }: Site,
  result: Result<Value>,
  decide: (value: Value) => Finding,
): Finding {
  return result.ok ? decide(result.value) : unseen(result.failure, declared.project);
}

/** The same by several readings of one kind: the first that failed says why. */
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
    return { state: 'unseen', what: `${service} is off in this project`, mend };
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
            press:
              'Choose the billing account, Account management, Add principal: you, as Billing Account Viewer',
          }
        : {
            command: `gcloud projects add-iam-policy-binding ${project} --member="user:$(gcloud config get-value account)" --role=${role}`,
          },
  };
}

/** What brings everything about as it should be, step by step. */
export function deployCommand({ project }: Declared): Mend {
  return { command: `npm run deploy -- --project ${project}` };
}

/** Writes a parameter where the functions get it, with the next deployment. */
export function setParameter({ project }: Declared, name: string, value: string): Mend {
  return {
    command: `echo '${name}=${value}' >> functions/.env.${project} && npm run deploy -- --project ${project}`,
  };
}

export function list(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
