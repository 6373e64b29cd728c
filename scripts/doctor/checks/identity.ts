/** Checks of the accounts that run and build the functions, of their roles, and of who may call the functions. */
import { type Policy, rolesIn, serviceAccountMember } from '../../google/policy.ts';
import {
  type Check,
  deployCommand,
  type Finding,
  type Fix,
  known,
  knownAll,
  list,
  OK,
  problemUnless,
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

/** Returns the decision about the project roles of the functions' account. */
function byRoles(site: Site, decide: (roles: readonly string[]) => Finding): Finding {
  return known(site, site.seen.serviceAccount, (account) =>
    account === undefined
      ? waitsFor(`no service account ${site.seen.account}`)
      : known(site, site.seen.projectPolicy, (policy) =>
          decide(rolesIn(policy, serviceAccountMember(site.seen.account))),
        ),
  );
}

/** Returns one shell command that grants several roles. */
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
        return problemUnless(rolesIn(policy, member).includes(role), {
          what: `${account} lacks ${role} on itself`,
          why,
          fix: {
            command: `gcloud iam service-accounts add-iam-policy-binding ${account} --member=${member} --role=${role} --project ${site.declared.project}`,
          },
        });
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
          what: "SERVICE_ACCOUNT is empty, so the functions run as the project's default account",
          why: 'that account has all permissions in the project or, in newer organizations, none',
          fix: setParameter(site.declared, 'SERVICE_ACCOUNT', 'muster@'),
        };
      return known(site, site.seen.serviceAccount, (account) => {
        if (account === undefined)
          return {
            state: 'problem',
            what: `service account ${serviceAccount} not found`,
            why: 'the functions are configured to run as this account',
            fix: {
              command: `gcloud iam service-accounts create ${serviceAccount.split('@')[0]} --display-name=Muster --project ${project}`,
            },
          };
        return problemUnless(!account.disabled, {
          what: `the service account ${serviceAccount} is disabled`,
          why: 'the functions run as this account',
          fix: { command: `gcloud iam service-accounts enable ${serviceAccount} --project ${project}` },
        });
      });
    },
  },
  {
    name: 'roles',
    find: (site) =>
      byRoles(site, (roles) => {
        const missing = missingRoles(site, roles);
        return problemUnless(missing.length === 0, {
          what: `${site.seen.account} lacks ${list(missing)}`,
          why: 'if one of these roles is missing, functions fail with an error that only the log shows',
          fix: forEach(
            missing,
            `gcloud projects add-iam-policy-binding ${site.declared.project} --condition=None --member=${serviceAccountMember(site.seen.account)}`,
          ),
        });
      }),
  },
  {
    name: 'excess roles',
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
          // An old role is removed only after its replacement has been granted, because the functions are running.
          const isReplaced = missingRoles(site, roles).length + uncallable(site, policies).length === 0;
          return {
            state: 'problem',
            what: `${account} has ${list(excess)}${isReplaced ? '' : ', and lacks the roles that replace them'}`,
            why: 'an attacker who controls a function could use these roles',
            fix: isReplaced ? remove : deployCommand(site.declared),
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
          why: 'Eventarc, Cloud Scheduler and Cloud Tasks call these functions as this account, and would get 403',
          fix: {
            command: `for service in ${closed.map((name) => name.toLowerCase()).join(' ')}; do gcloud run services add-iam-policy-binding $service --region=${region} --project=${project} --member=${serviceAccountMember(site.seen.account)} --role=${INVOKER_ROLE}; done`,
          },
        };
      }),
  },
  onItself(
    'roles/iam.serviceAccountTokenCreator',
    'token creator',
    'the account signs the tokens with which agents read and write data as themselves',
  ),
  onItself('roles/iam.serviceAccountUser', 'acting as itself', 'Cloud Tasks executes runs as this account'),
  {
    name: 'builds',
    find: (site) =>
      known(site, site.seen.builder, ({ serviceAccountEmail }) =>
        known(site, site.seen.projectPolicy, (policy) => {
          const builder = builderOf(serviceAccountEmail, site);
          const roles = rolesIn(policy, serviceAccountMember(builder));
          return problemUnless(
            BUILD_ROLES.some((role) => roles.includes(role)),
            {
              what: `${builder}, which builds the functions, lacks permission to build${withheld(site)}`,
              why: 'the deployment of each function would fail with a Cloud Build error',
              fix: {
                command: `gcloud projects add-iam-policy-binding ${site.declared.project} --condition=None --member=${serviceAccountMember(builder)} --role=roles/cloudbuild.builds.builder`,
              },
            },
          );
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
        if (deployed.length === 0) return waitsFor('no public function');
        return problemUnless(closed.length === 0, {
          what: `Cloud Run refuses all callers of ${closed.join(' and ')}`,
          why: 'clients get 403 before the function can check their credentials',
          fix: withoutAsking(site, closed),
        });
      }),
  },
];

type Service = (Site['seen']['runServices'] & { readonly ok: true })['value'][number];

/** Passes the deployed public functions, and the names of those that refuse some callers, to `decide`. */
function ofCallable(site: Site, decide: (deployed: readonly Service[], closed: readonly string[]) => Finding): Finding {
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

/** Returns a fix that works even if the organization forbids allUsers: Cloud Run stops checking callers. */
function withoutAsking({ declared: { region, project } }: Site, names: readonly string[]): Fix {
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

/** Returns the deployed functions that Google cannot call, because the functions' account may not call them. */
function uncallable({ seen, declared }: Site, policies: ReadonlyMap<string, Policy | undefined>): readonly string[] {
  const member = serviceAccountMember(seen.account);
  return calledByGoogle(declared).filter((name) => {
    const policy = policies.get(name);
    return policy !== undefined && !mayCall(policy, member);
  });
}

function withheld({ seen: { defaultGrants } }: Site): string {
  const enforced = defaultGrants.ok && defaultGrants.value?.spec?.rules.some(({ enforce }) => enforce);
  return enforced ? ' (iam.automaticIamGrantsForDefaultServiceAccounts denies it the Editor role)' : '';
}

function isPublic({ declared }: Site, service: string): boolean {
  return declared.functions.some(({ name, isPublic: open }) => open && service.endsWith(`/${name.toLowerCase()}`));
}

/** Reports a policy only if callers are refused, because a policy can have exemptions and keeps earlier grants. */
function restrictedCallers(site: Site): Finding {
  return ofCallable(site, (deployed, closed) => {
    return problemUnless(deployed.length > 0 && closed.length === 0, {
      what: 'an organization policy (iam.allowedPolicyMemberDomains) forbids calls by allUsers',
      why: 'Firebase cannot make mcp and githubWebhook public, so a deployment ends with "Unable to set the invoker"',
      fix:
        closed.length > 0
          ? withoutAsking(site, closed)
          : {
              page: `https://console.cloud.google.com/iam-admin/orgpolicies/iam-allowedPolicyMemberDomains?project=${site.declared.project}`,
              press:
                "ask an organization administrator to exempt the project (Override, Allow all), or keep the policy: npm run deploy turns off Cloud Run's check of the caller",
            },
    });
  });
}

/** Returns the account that Cloud Build uses in this project. Older projects have a dedicated account for it. */
export function builderOf(named: string, { seen }: Site): string {
  return named.replace(/^.*\//, '') || defaultAccountOf(seen.project.number);
}
