/** Checks of the deployed functions, and of their queue, schedules and images. */
import {
  type Check,
  deployCommand,
  type Finding,
  known,
  list,
  OK,
  problemUnless,
  type Site,
  waitsFor,
} from '../check.ts';
import type { Declared } from '../declared.ts';

type Deployed = (Site['seen']['functions'] & { readonly ok: true })['value'][number];

const PARTS = /\/locations\/([^/]+)\/functions\/([^/]+)$/;

export function placeOf({ name }: Deployed): { readonly region: string; readonly id: string } {
  const [, region = '', id = ''] = PARTS.exec(name) ?? [];
  return { region, id };
}

/** Returns the functions in any region that were deployed from any version of this repository. */
export function ours({ declared }: Site, functions: readonly Deployed[]): readonly Deployed[] {
  return functions.filter(({ labels }) => (labels['firebase-functions-codebase'] ?? 'default') === declared.codebase);
}

/** Returns the deployed functions that this version declares, in the region that it declares. */
export function current(site: Site, functions: readonly Deployed[]): readonly Deployed[] {
  const names = site.declared.functions.map(({ name }) => name);
  return ours(site, functions).filter((one) => {
    const { region, id } = placeOf(one);
    return region === site.declared.region && names.includes(id);
  });
}

/** Returns the end of the name that Firebase gives to a function's queue or schedule; undefined if it has neither. */
export function pathBeside({ region }: Declared, name: string, kind: string): string | undefined {
  if (kind === 'queue') return `/queues/${name}`;
  return kind === 'schedule' ? `/jobs/firebase-schedule-${name}-${region}` : undefined;
}

function undeclared(declared: Declared, kind: 'queue' | 'schedule'): readonly string[] {
  const functions = declared.functions.filter((one) => one.kind === kind);
  return functions.flatMap(({ name }) => pathBeside(declared, name, kind) ?? []);
}

/** Returns whether a queue or schedule belongs to a declared function. All others are ignored. */
export function isOurs(declared: Declared, { name }: { readonly name: string }): boolean {
  return [...undeclared(declared, 'queue'), ...undeclared(declared, 'schedule')].some((path) => name.endsWith(path));
}

function idOf(path: string): string {
  return path.replace(/^.*\//, '');
}

function ofDeployed(site: Site, decide: (functions: readonly Deployed[]) => Finding): Finding {
  return known(site, site.seen.functions, (functions) => {
    const there = current(site, functions);
    return there.length === 0 ? waitsFor('no function') : decide(there);
  });
}

interface ResourceKind {
  readonly kind: 'queue' | 'schedule';
  /** State of a queue or schedule that works. */
  readonly active: string;
  readonly why: string;
  /** Command that resumes a queue or schedule. */
  readonly resume: string;
}

/** Returns whether the queues or schedules of the declared functions exist and are active. */
function resourcesFinding(
  site: Site,
  seen: Site['seen']['queues' | 'jobs'],
  { kind, active, why, resume }: ResourceKind,
): Finding {
  return ofDeployed(site, () =>
    known<readonly { readonly name: string; readonly state: string }[]>(site, seen, (there) => {
      const { declared } = site;
      const missing = undeclared(declared, kind).filter((path) => !there.some(({ name }) => name.endsWith(path)));
      const what = `missing ${kind}s: ${list(missing.map(idOf))}`;
      if (missing.length > 0) return { state: 'problem', what, why, fix: deployCommand(declared) };
      const still = there.find((one) => isOurs(declared, one) && one.state !== active);
      if (still === undefined) return OK;
      const id = idOf(still.name);
      const command = `${resume} ${id} --location=${declared.region} --project ${declared.project}`;
      return { state: 'problem', what: `the ${kind} ${id} is ${still.state}`, why, fix: { command } };
    }),
  );
}

export const functionChecks: readonly Check[] = [
  {
    name: 'functions',
    find: (site) =>
      known(site, site.seen.functions, (functions) => {
        const active = current(site, functions).filter(({ state }) => state === 'ACTIVE');
        const there = active.map((one) => placeOf(one).id);
        const missing = site.declared.functions.map(({ name }) => name).filter((name) => !there.includes(name));
        return problemUnless(missing.length === 0, {
          what: `functions that are not deployed in ${site.declared.region}, or not active: ${list(missing)}`,
          why: 'without them, Muster does not work',
          fix: deployCommand(site.declared),
        });
      }),
  },
  {
    name: 'functions of previous versions',
    find: (site) =>
      known(site, site.seen.functions, (functions) => {
        const now = current(site, functions);
        const [former, ...others] = ours(site, functions).filter((one) => !now.includes(one));
        if (former === undefined) return OK;
        const { region } = placeOf(former);
        const ids = [former, ...others].filter((one) => placeOf(one).region === region).map((one) => placeOf(one).id);
        return {
          state: 'problem',
          what: `functions in ${region} that are not in this repository: ${list(ids)}`,
          why: 'they still run, alongside the current functions, because npm run deploy deletes nothing',
          fix: {
            command: `npx firebase functions:delete ${ids.join(' ')} --region ${region} --force --non-interactive --project ${site.declared.project}`,
          },
        };
      }),
  },
  {
    name: "functions' account",
    find: (site) =>
      ofDeployed(site, (functions) => {
        const others = functions.filter(
          ({ serviceConfig }) => serviceConfig?.serviceAccountEmail !== site.seen.account,
        );
        return problemUnless(others.length === 0, {
          what: `functions that run as an account other than ${site.seen.account}: ${list(others.map((one) => placeOf(one).id))}`,
          why: 'a change of SERVICE_ACCOUNT takes effect only with the next deployment',
          fix: deployCommand(site.declared),
        });
      }),
  },
  {
    name: 'runtime',
    find: (site) =>
      ofDeployed(site, (functions) => {
        const others = functions.filter(({ buildConfig }) => buildConfig?.runtime !== site.declared.runtime);
        return problemUnless(others.length === 0, {
          what: `functions that do not run on ${site.declared.runtime}: ${list(others.map((one) => placeOf(one).id))}`,
          why: 'the tests use that runtime, and Google shuts down older runtimes',
          fix: deployCommand(site.declared),
        });
      }),
  },
  {
    name: 'parameters',
    find: (site) =>
      ofDeployed(site, (functions) => {
        const env = functions.find((one) => placeOf(one).id === 'mcp')?.serviceConfig?.environmentVariables;
        if (env === undefined) return waitsFor('no function mcp');
        const stale = Object.entries(site.declared.parameters)
          .filter(([name, value]) => (env[name] ?? '') !== value)
          .map(([name]) => name);
        return problemUnless(stale.length === 0, {
          what: `functions/.env.${site.declared.project} has other values than the deployed functions for: ${list(stale)}`,
          why: 'a change of parameters takes effect only with the next deployment',
          fix: deployCommand(site.declared),
        });
      }),
  },
  {
    name: 'task queue',
    find: (site) =>
      resourcesFinding(site, site.seen.queues, {
        kind: 'queue',
        active: 'RUNNING',
        why: 'the queue executes runs; without it, runs stay pending',
        resume: 'gcloud tasks queues resume',
      }),
  },
  {
    name: 'schedules',
    find: (site) =>
      resourcesFinding(site, site.seen.jobs, {
        kind: 'schedule',
        active: 'ENABLED',
        why: 'the schedules handle expired leases, offline agents and reminders',
        resume: 'gcloud scheduler jobs resume',
      }),
  },
  {
    name: 'cleanup policy',
    find: (site) =>
      known(site, site.seen.repository, (repository) => {
        if (repository === undefined) return waitsFor('no image repository');
        return problemUnless(
          Object.values(repository.cleanupPolicies).some(({ action }) => action === 'DELETE'),
          {
            what: 'old images of the functions are never deleted',
            why: 'each deployment adds one image per function, and the storage of images is billed monthly',
            fix: {
              command: `npx firebase functions:artifacts:setpolicy --location ${site.declared.region} --days 1 --force --non-interactive --project ${site.declared.project}`,
            },
          },
        );
      }),
  },
];
