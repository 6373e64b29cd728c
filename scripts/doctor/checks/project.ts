/** Checks of the project, its billing and its enabled APIs. */
import { type Check, deployCommand, known, list, OK, problemUnless, type Site } from '../check.ts';
import { DEPLOYING, neededApis, rolesFor } from '../needs.ts';

type HostingSite = (Site['seen']['sites'] & { readonly ok: true })['value'][number];

/** Returns the CLI's default Hosting site. Source: firebase-tools, src/getDefaultHostingSite.ts */
export function defaultSite(sites: readonly HostingSite[]): HostingSite | undefined {
  return sites.find(({ type }) => type === 'DEFAULT_SITE');
}

export const projectChecks: readonly Check[] = [
  {
    name: 'project',
    find: ({ seen: { project } }) =>
      problemUnless(project.state === 'ACTIVE', {
        what: `the project is ${project.state}`,
        why: 'the project is about to be deleted with everything in it',
        fix: { command: `gcloud projects undelete ${project.id}` },
      }),
  },
  {
    name: 'firebase',
    find: (site) =>
      known(site, site.seen.project.isFirebase, (isFirebase) =>
        problemUnless(isFirebase, {
          what: 'the Google Cloud project is not yet a Firebase project',
          why: 'Firebase deploys functions, rules and the Realtime Database',
          fix: { command: `npx firebase projects:addfirebase ${site.declared.project} --non-interactive` },
        }),
      ),
  },
  {
    name: 'billing',
    find: (site) =>
      known(site, site.seen.billing, ({ billingEnabled }) =>
        problemUnless(billingEnabled, {
          what: 'the project is not on the Blaze plan',
          why: 'functions cannot be deployed without it; a person must choose who pays',
          fix: {
            page: `https://console.firebase.google.com/project/${site.declared.project}/usage/details`,
            press: 'Modify plan, Blaze, and choose a billing account',
          },
        }),
      ),
  },
  {
    name: 'APIs',
    find: (site) =>
      known(site, site.seen.services, (services) => {
        const enabled = services.map(({ name }) => name.replace(/^.*\//, ''));
        const off = neededApis(site.declared).filter((api) => !enabled.includes(api));
        return problemUnless(off.length === 0, {
          what: `not enabled: ${list(off)}`,
          why: 'the functions or their deployment call these APIs',
          fix: { command: `gcloud services enable ${off.join(' ')} --project ${site.declared.project}` },
        });
      }),
  },
  {
    name: 'permissions to deploy',
    find: (site) =>
      known(site, site.seen.deployer, (held) => {
        const lacking = DEPLOYING.filter((one) => !held.includes(one));
        if (lacking.length === 0) return OK;
        const roles = rolesFor(lacking);
        const give = `gcloud projects add-iam-policy-binding ${site.declared.project} --condition=None --member=<you> --role=$role`;
        return {
          state: 'warning',
          what: `you can read but not deploy; you lack ${list(lacking)}`,
          why: 'npm run deploy would stop midway; the doctor itself has all permissions that it needs',
          fix: { command: `for role in ${roles.join(' ')}; do ${give}; done` },
        };
      }),
  },
  {
    name: 'hosting site',
    find: (site) =>
      !site.declared.hasHosting
        ? OK
        : known(site, site.seen.sites, (sites) =>
            problemUnless(defaultSite(sites)?.appId !== undefined, {
              what:
                defaultSite(sites) === undefined
                  ? 'Hosting has no default site'
                  : "Hosting's default site is not linked to a web app",
              why: "the default site serves the console and the project's settings",
              fix: deployCommand(site.declared),
            }),
          ),
  },
  {
    name: 'Web Push certificate',
    find: ({ declared: { project, hasHosting, parameters } }) => {
      const key = parameters['WEB_PUSH_KEY'] ?? '';
      if (!hasHosting || isVapidKey(key)) return OK;
      const fix = {
        page: `https://console.firebase.google.com/project/${project}/settings/cloudmessaging`,
        press: `Web Push certificates, Generate key pair. Then copy the key pair to functions/.env.${project} as WEB_PUSH_KEY=<key>, and run npm run deploy`,
      };
      const why = 'without a valid key, browsers notify people only while the console is open';
      return key === ''
        ? { state: 'warning', what: 'WEB_PUSH_KEY is empty', why, fix }
        : { state: 'problem', what: 'WEB_PUSH_KEY is not the public key of a Web Push certificate', why, fix };
    },
  },
];

/** Returns whether a text is an uncompressed point of the curve P-256. Source: RFC 8292, section 3.2. */
function isVapidKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  return /^[\w-]{87}=?$/.test(text) && bytes.length === 65 && bytes[0] === 4;
}
