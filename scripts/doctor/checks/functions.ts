/** The functions as they are deployed, and what Google keeps beside them: queue, schedules, images. */
import { type Check, deployCommand, type Finding, known, list, OK, type Site, waitsFor } from '../check.ts';
import type { Declared } from '../declared.ts';

type Deployed = (Site['seen']['functions'] & { readonly ok: true })['value'][number];

const PARTS = /\/locations\/([^/]+)\/functions\/([^/]+)$/;

export function placeOf({ name }: Deployed): { readonly region: string; readonly id: string } {
  const [, region = '', id = ''] = PARTS.exec(name) ?? [];
  return { region, id };
}

/** Those that this repository has put there, wherever. */
export function ours({ declared }: Site, functions: readonly Deployed[]): readonly Deployed[] {
  return functions.filter(
    ({ labels }) => (labels['firebase-functions-codebase'] ?? 'default') === declared.codebase,
  );
}

/** Those of them that are declared, in their region. */
export function current(site: Site, functions: readonly Deployed[]): readonly Deployed[] {
  const names = site.declared.functions.map(({ name }) => name);
  return ours(site, functions).filter((one) => {
    const { region, id } = placeOf(one);
    return region === site.declared.region && names.includes(id);
  });
}

/** How the name of the queue or the schedule ends that Firebase makes for a function; undefined if it makes none. */
export function pathBeside({ region }: Declared, name: string, kind: string): string | undefined {
  if (kind === 'queue') return `/queues/${name}`;
  return kind === 'schedule' ? `/jobs/firebase-schedule-${name}-${region}` : undefined;
}

function beside(declared: Declared, kind: 'queue' | 'schedule'): readonly string[] {
  const functions = declared.functions.filter((one) => one.kind === kind);
  return functions.flatMap(({ name }) => pathBeside(declared, name, kind) ?? []);
}

/** Whether a queue or a schedule is of our functions: a project may have others. */
export function isOurs(declared: Declared, { name }: { readonly name: string }): boolean {
  return [...beside(declared, 'queue'), ...beside(declared, 'schedule')].some((path) => name.endsWith(path));
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

export const functionChecks: readonly Check[] = [
  {
    name: 'functions',
    find: (site) =>
      known(site, site.seen.functions, (functions) => {
        const active = current(site, functions).filter(({ state }) => state === 'ACTIVE');
        const there = active.map((one) => placeOf(one).id);
        const missing = site.declared.functions
          .map(({ name }) => name)
          .filter((name) => !there.includes(name));
        if (missing.length === 0) return OK;
        return {
          state: 'problem',
          what: `not deployed in ${site.declared.region}, or not active: ${list(missing)}`,
          why: 'they are Muster',
          mend: deployCommand(site.declared),
        };
      }),
  },
  {
    name: 'functions of former versions',
    find: (site) =>
      known(site, site.seen.functions, (functions) => {
        const now = current(site, functions);
        const [former, ...others] = ours(site, functions).filter((one) => !now.includes(one));
        if (former === undefined) return OK;
        const { region } = placeOf(former);
        const ids = [former, ...others]
          .filter((one) => placeOf(one).region === region)
          .map((one) => placeOf(one).id);
        return {
          state: 'problem',
          what: `in ${region} and no more in this repository: ${list(ids)}`,
          why: 'they go on being called, beside those of today; npm run deploy deletes nothing by itself',
          mend: {
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
        if (others.length === 0) return OK;
        return {
          state: 'problem',
          what: `run as another account than ${site.seen.account}: ${list(others.map((one) => placeOf(one).id))}`,
          why: 'SERVICE_ACCOUNT holds from the next deployment on',
          mend: deployCommand(site.declared),
        };
      }),
  },
  {
    name: 'runtime',
    find: (site) =>
      ofDeployed(site, (functions) => {
        const others = functions.filter(({ buildConfig }) => buildConfig?.runtime !== site.declared.runtime);
        if (others.length === 0) return OK;
        return {
          state: 'problem',
          what: `do not run on ${site.declared.runtime}: ${list(others.map((one) => placeOf(one).id))}`,
          why: 'it is what the tests run on, and older ones are ended by Google',
          mend: deployCommand(site.declared),
        };
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
        if (stale.length === 0) return OK;
        return {
          state: 'problem',
          what: `functions/.env.${site.declared.project} has other values than what is deployed: ${list(stale)}`,
          why: 'parameters hold from the next deployment on',
          mend: deployCommand(site.declared),
        };
      }),
  },
  {
    name: 'task queue',
    find: (site) =>
      ofDeployed(site, () =>
        known(site, site.seen.queues, (queues) => {
          const missing = beside(site.declared, 'queue').filter(
            (path) => !queues.some(({ name }) => name.endsWith(path)),
          );
          const why = 'runs are executed from it: without it they stay pending';
          if (missing.length > 0)
            return {
              state: 'problem',
              what: `there is no queue ${list(missing.map(idOf))}`,
              why,
              mend: deployCommand(site.declared),
            };
          const still = queues.find((one) => isOurs(site.declared, one) && one.state !== 'RUNNING');
          if (still === undefined) return OK;
          const id = idOf(still.name);
          return {
            state: 'problem',
            what: `the queue ${id} is ${still.state}`,
            why,
            mend: {
              command: `gcloud tasks queues resume ${id} --location=${site.declared.region} --project ${site.declared.project}`,
            },
          };
        }),
      ),
  },
  {
    name: 'schedules',
    find: (site) =>
      ofDeployed(site, () =>
        known(site, site.seen.jobs, (jobs) => {
          const why = 'lapsed leases, silent agents and reminders wait for them';
          const missing = beside(site.declared, 'schedule').filter(
            (path) => !jobs.some(({ name }) => name.endsWith(path)),
          );
          if (missing.length > 0)
            return {
              state: 'problem',
              what: `there is no schedule ${list(missing.map(idOf))}`,
              why,
              mend: deployCommand(site.declared),
            };
          const still = jobs.find((one) => isOurs(site.declared, one) && one.state !== 'ENABLED');
          if (still === undefined) return OK;
          const id = idOf(still.name);
          return {
            state: 'problem',
            what: `the schedule ${id} is ${still.state}`,
            why,
            mend: {
              command: `gcloud scheduler jobs resume ${id} --location=${site.declared.region} --project ${site.declared.project}`,
            },
          };
        }),
      ),
  },
  {
    name: 'cleanup policy',
    find: (site) =>
      known(site, site.seen.repository, (repository) => {
        if (repository === undefined) return waitsFor('no repository of images');
        if (Object.values(repository.cleanupPolicies).some(({ action }) => action === 'DELETE')) return OK;
        return {
          state: 'problem',
          what: 'nothing deletes old images of the functions',
          why: 'each deployment leaves one of each function, and they are paid for by the month',
          mend: {
            command: `npx firebase functions:artifacts:setpolicy --location ${site.declared.region} --days 1 --force --non-interactive --project ${site.declared.project}`,
          },
        };
      }),
  },
];
