/** As whom the functions run and are built, what that account may do, and who may call them. */
import { type Policy, rolesIn, serviceAccountMember } from '../../google/policy.ts';
import {
  type Check,
  deployCommand,
  type Finding,
  known,
  knownAll,
  list,
  type Mend,
  OK,
  type Site,
  setParameter,
  waitsFor,
} from '../check.ts';
import {
  BUILD_ROLES,
  calledByGoogle,
  defaultAccountOf,
  INVOKER_ROLE,
  neededRoles,
  type ROLES_ON_ITSELF,
} from '../needs.ts';

/** Decides by the roles of the functions' account in the project. */
function byRoles(site: Site, decide: (roles: readonly string[]) => Finding): Finding {
  return known(site, site.seen.serviceAccount, (account) =>
    account === undefined
      ? waitsFor(`no service account ${site.seen.account}`)
      : known(site, site.seen.projectPolicy, (policy) =>
          decide(rolesIn(policy, serviceAccountMember(site.seen.account))),
        ),
  );
}

/** One command for several roles. */
function forEach(roles: readonly string[], command: string): { readonly command: string } {
  if (roles.length === 1) return { command: `${command} --role=${roles[0]}` };
  return { command: `for role in ${roles.join(' ')}; do ${command} --role=$role; done` };
}

function onItself(role: (typeof ROLES_ON_ITSELF)[number], name: string, why: string): Check {
  return {
    name,
    find: (site) =>
      known(site, site.seen.accountPolicy, (policy) => {
        const { account } = site.seen;
        if (policy === undefined) return waitsFor(`no service account ${account}`);
        const member = serviceAccountMember(account);
        if (rolesIn(policy, member).includes(role)) return OK;
        return {
          state: 'problem',
          what: `${account} has not ${role} on itself`,
          why,
          mend: {
            command: `gcloud iam service-accounts add-iam-policy-binding ${account} --member=${member} --role=${role} --project ${site.declared.project}`,
          },
        };
      }),
  };
}

export const identityChecks: readonly Check[] = [
  {
    name: 'service account',
    find: (site) => {
      const { serviceAccount, project } = site.declared;
      if (serviceAccount === undefined)
        return {
          state: 'problem',
          what: 'SERVICE_ACCOUNT names none, so that the functions run as the default account of the project',
          why: 'that one may do everything in the project, or in newer organisations nothing',
          mend: setParameter(site.declared, 'SERVICE_ACCOUNT', 'muster@'),
        };
      return known(site, site.seen.serviceAccount, (account) => {
        if (account === undefined)
          return {
            state: 'problem',
            what: `there is no service account ${serviceAccount}`,
            why: 'the functions run as it',
            mend: {
              command: `gcloud iam service-accounts create ${serviceAccount.split('@')[0]} --display-name=Muster --project ${project}`,
            },
          };
        if (!account.disabled) return OK;
        return {
          state: 'problem',
          what: `the service account ${serviceAccount} is disabled`,
          why: 'the functions run as it',
          mend: { command: `gcloud iam service-accounts enable ${serviceAccount} --project ${project}` },
        };
      });
    },
  },
  {
    name: 'roles',
    find: (site) =>
      byRoles(site, (roles) => {
        const missing = missingRoles(site, roles);
        if (missing.length === 0) return OK;
        return {
          state: 'problem',
          what: `${site.seen.account} lacks ${list(missing)}`,
          why: 'without each of them something fails that only the log tells of',
          mend: forEach(
            missing,
            `gcloud projects add-iam-policy-binding ${site.declared.project} --condition=None --member=${serviceAccountMember(site.seen.account)}`,
          ),
        };
      }),
  },
  {
    name: 'no more roles than needed',
    find: (site) =>
      byRoles(site, (roles) => {
        const needed = neededRoles(site.declared);
        const excess = roles.filter((role) => !needed.includes(role));
        if (excess.length === 0 || site.declared.serviceAccount === undefined) return OK;
        return knownAll(site, site.seen.invokers, (policies) => {
          const { account } = site.seen;
          const remove = forEach(
            excess,
            `gcloud projects remove-iam-policy-binding ${site.declared.project} --condition=None --member=${serviceAccountMember(account)}`,
          );
          // A role of an earlier version goes after its replacement is granted: functions run in between.
          const isReplaced = missingRoles(site, roles).length + uncallable(site, policies).length === 0;
          return {
            state: 'problem',
            what: `${account} has ${list(excess)}${isReplaced ? '' : ', and lacks what replaces it'}`,
            why: 'whoever found a way to make a function do something could do that, too',
            mend: isReplaced ? remove : deployCommand(site.declared),
          };
        });
      }),
  },
  {
    name: 'calls by Google',
    find: (site) =>
      knownAll(site, site.seen.invokers, (policies) => {
        const closed = uncallable(site, policies);
        if (closed.length === 0) return OK;
        const { region, project } = site.declared;
        return {
          state: 'problem',
          what: `${site.seen.account} lacks ${INVOKER_ROLE} on ${list(closed)}`,
          why: 'Eventarc, Cloud Scheduler and Cloud Tasks call these functions as that account, and get 403',
          mend: {
            command: `for service in ${closed.map((name) => name.toLowerCase()).join(' ')}; do gcloud run services add-iam-policy-binding $service --region=${region} --project=${project} --member=${serviceAccountMember(site.seen.account)} --role=${INVOKER_ROLE}; done`,
          },
        };
      }),
  },
  onItself(
    'roles/iam.serviceAccountTokenCreator',
    'token creator',
    'it signs the tokens by which agents read and write data as themselves',
  ),
  onItself(
    'roles/iam.serviceAccountUser',
    'acting as itself',
    'it hands Cloud Tasks its own identity, as which runs are executed',
  ),
  {
    name: 'builds',
    find: (site) =>
      known(site, site.seen.builder, ({ serviceAccountEmail }) =>
        known(site, site.seen.projectPolicy, (policy) => {
          const builder = builderOf(serviceAccountEmail, site);
          const roles = rolesIn(policy, serviceAccountMember(builder));
          if (BUILD_ROLES.some((role) => roles.includes(role))) return OK;
          return {
            state: 'problem',
            what: `${builder}, as which functions are built, may not build${withheld(site)}`,
            why: 'the deployment of each function would end with an error of Cloud Build',
            mend: {
              command: `gcloud projects add-iam-policy-binding ${site.declared.project} --condition=None --member=${serviceAccountMember(builder)} --role=roles/cloudbuild.builds.builder`,
            },
          };
        }),
      ),
  },
  {
    name: 'public callers',
    find: (site) =>
      known(site, site.seen.memberDomains, (policy) => {
        const restricted = policy?.spec?.rules.some(
          ({ allowAll, denyAll, values }) => denyAll || (!allowAll && values !== undefined),
        );
        if (restricted !== true) return OK;
        return restrictedCallers(site);
      }),
  },
  {
    name: 'invoker',
    find: (site) =>
      ofCallable(site, (deployed, closed) => {
        if (deployed.length === 0) return waitsFor('no function that is called from outside');
        if (closed.length === 0) return OK;
        return {
          state: 'problem',
          what: `Cloud Run lets nobody call ${closed.join(' and ')}`,
          why: 'clients get 403 before the function can ask who they are, which it does itself',
          mend: withoutAsking(site, closed),
        };
      }),
  },
];

type Service = (Site['seen']['runServices'] & { readonly ok: true })['value'][number];

/** Decides by the functions for everybody that are deployed, and the names of those that not everybody may call. */
function ofCallable(
  site: Site,
  decide: (deployed: readonly Service[], closed: readonly string[]) => Finding,
): Finding {
  return knownAll(site, site.seen.invokers, (policies) =>
    known(site, site.seen.runServices, (services) => {
      const deployed = services.filter(({ name }) => isPublic(site, name));
      const closed = deployed.filter(({ name, invokerIamDisabled }) => {
        const policy = [...policies].find(([one]) => name.endsWith(`/${one.toLowerCase()}`))?.[1];
        return !mayCall(policy, 'allUsers') && !invokerIamDisabled;
      });
      return decide(
        deployed,
        closed.map(({ name }) => name.replace(/^.*\//, '')),
      );
    }),
  );
}

/** Where nobody outside the organisation may be named, Cloud Run can still be told not to ask who calls. */
function withoutAsking({ declared: { region, project } }: Site, names: readonly string[]): Mend {
  const update = (name: string) =>
    `gcloud run services update ${name} --no-invoker-iam-check --region=${region} --project=${project}`;
  return { command: names.map(update).join(' && ') };
}

function mayCall(policy: Policy | undefined, member: string): boolean {
  return policy !== undefined && rolesIn(policy, member).includes(INVOKER_ROLE);
}

function missingRoles({ declared }: Site, roles: readonly string[]): readonly string[] {
  return neededRoles(declared).filter((role) => !roles.includes(role));
}

/** Deployed functions that Google cannot call as the functions' account, unless the whole project lets it. */
function uncallable(
  { seen, declared }: Site,
  policies: ReadonlyMap<string, Policy | undefined>,
): readonly string[] {
  const member = serviceAccountMember(seen.account);
  return calledByGoogle(declared).filter((name) => {
    const policy = policies.get(name);
    return policy !== undefined && !mayCall(policy, member);
  });
}

function withheld({ seen: { defaultGrants } }: Site): string {
  const enforced = defaultGrants.ok && defaultGrants.value?.spec?.rules.some(({ enforce }) => enforce);
  return enforced ? ' (iam.automaticIamGrantsForDefaultServiceAccounts keeps Editor from it)' : '';
}

function isPublic({ declared }: Site, service: string): boolean {
  return declared.functions.some(
    ({ name, isPublic: open }) => open && service.endsWith(`/${name.toLowerCase()}`),
  );
}

/** As a problem only while somebody is kept out: a policy may have exemptions, and spares who was let in before it. */
function restrictedCallers(site: Site): Finding {
  return ofCallable(site, (deployed, closed) => {
    if (deployed.length > 0 && closed.length === 0) return OK;
    return {
      state: 'problem',
      what: 'an organisation policy (iam.allowedPolicyMemberDomains) forbids to let allUsers call anything',
      why: 'Firebase cannot open mcp and githubWebhook then, and its deployment ends with "Unable to set the invoker"',
      mend:
        closed.length > 0
          ? withoutAsking(site, closed)
          : {
              page: `https://console.cloud.google.com/iam-admin/orgpolicies/iam-allowedPolicyMemberDomains?project=${site.declared.project}`,
              press:
                'have an administrator of the organisation exempt the project (Override, Allow all); or leave it: npm run deploy tells Cloud Run not to ask who calls',
            },
    };
  });
}

/** As whom Cloud Build builds in this project: in older ones an account of its own. */
export function builderOf(named: string, { seen }: Site): string {
  return named.replace(/^.*\//, '') || defaultAccountOf(seen.project.number);
}
